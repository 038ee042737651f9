/** What is known about the hosts that addresses lead to. */

/** Where anyone can receive anything without a name: made for testing, used for taking. */
const DROP_HOSTS =
  /(?:^|\.)(?:webhook\.site|requestbin\.(?:com|net)|requestcatcher\.com|beeceptor\.com|hookbin\.com|pipedream\.net|oast\.(?:fun|live|me|online|pro|site)|interact\.sh|oastify\.com|burpcollaborator\.net|dnslog\.cn|ceye\.io|canarytokens\.com|transfer\.sh|file\.io|0x0\.st|termbin\.com|ix\.io|paste\.rs|pastebin\.com|hastebin\.com|dpaste\.(?:com|org)|ghostbin\.com|anonfiles\.com|gofile\.io|bashupload\.com|ptsv2?\.com|mockbin\.org|glot\.io|rentry\.co|catbox\.moe|temp\.sh|ngrok(?:-free)?\.(?:io|app|dev)|trycloudflare\.com|serveo\.net|localhost\.run|loca\.lt)$/i;

const SHORTENERS =
  /(?:^|\.)(?:bit\.ly|tinyurl\.com|t\.co|goo\.gl|is\.gd|cutt\.ly|rb\.gy|shorturl\.at|ow\.ly|tiny\.cc|t\.ly|rebrand\.ly|v\.gd)$/i;

/**
 * Where projects publish the installer of their own tool. A download from there that is executed is as trustworthy as
 * the tool itself; anyone else's is not.
 */
const INSTALLERS =
  /^(?:astral\.sh|sh\.rustup\.rs|static\.rust-lang\.org|rustup\.rs|get\.docker\.com|bun\.(?:sh|com)|deno\.(?:land|com)|get\.pnpm\.io|install\.python-poetry\.org|get\.helm\.sh|sdk\.cloud\.google\.com|fly\.io|get\.sdkman\.io|get\.k3s\.io|get\.volta\.sh|fnm\.vercel\.app|mise\.(?:run|jdx\.dev)|nixos\.org|install\.determinate\.systems|ollama\.com|ollama\.ai|claude\.ai|cli\.github\.com|deb\.nodesource\.com|rpm\.nodesource\.com|get\.starship\.rs|starship\.rs|foundry\.paradigm\.xyz|release\.anza\.xyz|release\.solana\.com|bootstrap\.pypa\.io|pyenv\.run|get\.rvm\.io|brew\.sh|cursor\.com|opencode\.ai|pixi\.sh|dl\.k8s\.io|tailscale\.com|get\.pulumi\.com|install\.duckdb\.org|cli\.doppler\.com|esm\.sh|dot\.net|aka\.ms)$/i;

/** Repositories whose raw files are a tool's documented installer. */
const RAW_FILES =
  /^(?:raw\.githubusercontent\.com|gist\.githubusercontent\.com|github\.com|gist\.github\.com|gitlab\.com|bitbucket\.org)$/i;

export type HostKind = "drop" | "shortener" | "address" | "installer" | "repository" | "local" | "other";

/** `undefined` when the text has no host. */
export function hostOf(address: string): string | undefined {
  const [, host] =
    /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/@\s]*@)?(\[[0-9a-f:]+\]|[^/:?#\s"'`)\\]+)/i.exec(address.trim()) ?? [];
  return host?.toLowerCase();
}

export function hostKindOf(host: string): HostKind {
  if (/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|host\.docker\.internal)$/.test(host))
    return "local";
  if (/^(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+(?:\.\d+)?$/.test(host)) return "local";
  if (/^\d{1,3}(?:\.\d{1,3}){3}$|^\[/.test(host)) return "address";
  if (RAW_FILES.test(host)) return "repository";
  if (DROP_HOSTS.test(host)) return "drop";
  if (SHORTENERS.test(host)) return "shortener";
  return INSTALLERS.test(host) ? "installer" : "other";
}
