/**
 * Knowledge about the paths and hosts in code (which hold credentials, where anyone can receive anything), and the
 * forms of well-known services' tokens.
 */
import { UNKNOWN } from "./code-part.ts";

export type SecretKind = "private-key" | "cloud" | "browser" | "keychain" | "agent" | "process" | "project";

/** A separator, the start, or something unknown that may end in one. */
const START = `(?:^|[/\\\\\\s"'=@:(,${UNKNOWN}])`;
const END = `(?=$|[/\\\\\\s"'):,;*${UNKNOWN}])`;

const SECRET_PLACES: readonly (readonly [SecretKind, string])[] = [
  ["private-key", String.raw`\.ssh/(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|\*|[\w-]*key|[\w-]+\.pem)`],
  ["private-key", String.raw`\.ssh/?(?=$|[\s"')])`],
  ["private-key", "id_(?:rsa|ed25519|ecdsa|dsa)"],
  ["private-key", String.raw`\.gnupg(?:/(?:private-keys[\w.-]*|secring\.gpg))?`],
  [
    "private-key",
    String.raw`(?:\.ethereum/keystore|\.bitcoin/wallet\.dat|wallet\.dat|\.electrum/wallets|\.config/solana/id\.json|Exodus/exodus\.wallet|\.ethereum|Ethereum/keystore|nkbihfbeogaeaoehlefnkodbefgpgknn)`,
  ],
  [
    "cloud",
    String.raw`(?:\.aws/(?:credentials|config)|\.aws|\.config/gcloud(?:/[\w.-]+)?|application_default_credentials\.json|\.azure(?:/[\w.-]+)?|\.kube/config|\.docker/config\.json|\.npmrc|\.pypirc|\.netrc|_netrc|\.git-credentials|\.config/git/credentials|\.config/gh/hosts\.yml|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.m2/settings\.xml|\.terraform\.d/credentials\.tfrc\.json|\.vault-token|\.pgpass|\.my\.cnf|\.config/hub|\.oci/config|\.databrickscfg|\.huggingface/token|\.cache/huggingface/token|\.config/rclone/rclone\.conf|\.s3cfg|\.boto)`,
  ],
  [
    "browser",
    String.raw`(?:Login Data|Local State|cookies\.sqlite|logins\.json|key[34]\.db|(?:Google/Chrome|google-chrome|chromium|BraveSoftware|Microsoft[ /]?Edge|Chrome/User Data|Firefox/Profiles|\.mozilla/firefox|Default/Cookies)(?:/[\w .*-]+)*|Cookies\.binarycookies)`,
  ],
  [
    "keychain",
    String.raw`(?:/?etc/(?:shadow|gshadow|master\.passwd)|Library/Keychains(?:/[\w.-]+)*|login\.keychain(?:-db)?|\.local/share/keyrings(?:/[\w.-]+)*|\.password-store|\.config/1Password|\.config/op|[\w-]+\.kdbx|NTDS\.dit|config/SAM)`,
  ],
  [
    "agent",
    String.raw`(?:\.claude\.json|\.claude/(?:\.credentials\.json|credentials\.json|history\.jsonl)|\.codex/auth\.json|\.gemini/oauth_creds\.json|\.openclaw/(?:openclaw\.json|credentials[\w/.-]*|\.env)|\.clawdbot/[\w/.-]+|\.config/github-copilot/(?:hosts|apps)\.json|\.metier/(?:vault|config\.toml|grants\.json))`,
  ],
  ["process", String.raw`/?proc/(?:self|\d+|\*|\$\w+|${UNKNOWN}|\[0-9\]\*)/environ`],
  ["project", String.raw`\.env(?:\.(?:local|production|prod|development|staging))?`],
  ["private-key", String.raw`\.(?:bash|zsh|python|node_repl|mysql|psql)_history`],
];

let secretPatterns: readonly { readonly kind: SecretKind; readonly pattern: RegExp }[] | undefined;

/** `.pub` files, known hosts and examples are not secrets. */
const HARMLESS = /\.pub$|known_hosts|authorized_keys|\.(?:example|sample|template|dist)$|\.ssh\/config$/i;

/** What a path, or a text with paths in it, points to. */
export function secretKindOf(path: string): SecretKind | undefined {
  if (HARMLESS.test(path.trim())) return undefined;
  secretPatterns ??= SECRET_PLACES.map(([kind, source]) => ({
    kind,
    pattern: new RegExp(`${START}(?:${source})${END}`, "i"),
  }));
  return secretPatterns.find(({ pattern }) => pattern.test(path))?.kind;
}

const LASTING_PLACES = {
  "authorized-keys": /(?:^|[/"'\s])\.ssh\/(?:authorized_keys2?|rc)\b/,
  "shell-profile":
    /(?:^|[\s"'=]|\/(?:root|home\/[^/]+|Users\/[^/]+)\/|[~\uFFFC]\/)\.(?:bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|config\/fish\/config\.fish)\b|\/etc\/(?:profile(?:\.d\/|\b)|bash\.bashrc|zsh\/|environment\b|ld\.so\.preload)|Microsoft\.PowerShell_profile\.ps1/,
  scheduled:
    /\/etc\/cron(?:tab\b|\.\w+)|\/var\/spool\/cron|(?:\/etc|\.config|\/lib|\/usr\/lib)\/systemd\/(?:system|user)\/|Library\/Launch(?:Agents|Daemons)\/|\.config\/autostart\/|\/etc\/(?:init\.d|rc\.local)|Start Menu\/Programs\/Startup|CurrentVersion\\+Run/i,
  "git-hook": /\.git\/hooks\/\w|\.config\/git\/hooks|\.husky\/\w/,
  "agent-config":
    /(?:^|[/"'\s~])\.(?:claude\/(?:settings(?:\.local)?\.json|CLAUDE\.md|hooks\/|agents\/|commands\/)|claude\.json\b|codex\/(?:config\.toml|AGENTS\.md)|gemini\/settings\.json|cursor\/(?:mcp\.json|rules|hooks\.json)|vscode\/(?:settings|tasks|mcp)\.json|mcp\.json\b|metier\/(?:config\.toml|grants\.json)|openclaw\/openclaw\.json|continue\/config\.\w+|cursorrules\b|windsurfrules\b)|(?:^|[/"'\s])(?:CLAUDE|AGENTS|GEMINI|SOUL|MEMORY)\.md\b|claude_desktop_config\.json/,
};

export type LastingKind = keyof typeof LASTING_PLACES;

/** What writing to the path causes later. */
export function lastingKindOf(path: string): LastingKind | undefined {
  const kinds = Object.keys(LASTING_PLACES) as LastingKind[];
  return kinds.find((kind) => LASTING_PLACES[kind].test(path));
}

/** Names of variables that hold credentials. */
const SECRET_VARIABLE =
  /(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET(?:_?KEY)?|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PRIVATE_?KEY|CREDENTIALS?|CONNECTION_STRING|DATABASE_URL|MNEMONIC|SEED_PHRASE)(?:_|$|S$)/i;

export function isSecretVariable(name: string): boolean {
  return SECRET_VARIABLE.test(name);
}

/** Where anyone can receive data anonymously: made for testing, used for theft. */
const DROP_HOSTS =
  /(?:^|\.)(?:webhook\.site|requestbin\.(?:com|net)|requestcatcher\.com|beeceptor\.com|hookbin\.com|pipedream\.net|oast\.(?:fun|live|me|online|pro|site)|interact\.sh|oastify\.com|burpcollaborator\.net|dnslog\.cn|ceye\.io|canarytokens\.com|transfer\.sh|file\.io|0x0\.st|termbin\.com|ix\.io|paste\.rs|pastebin\.com|hastebin\.com|dpaste\.(?:com|org)|ghostbin\.com|anonfiles\.com|gofile\.io|bashupload\.com|ptsv2?\.com|mockbin\.org|glot\.io|rentry\.co|catbox\.moe|temp\.sh|ngrok(?:-free)?\.(?:io|app|dev)|trycloudflare\.com|serveo\.net|localhost\.run|loca\.lt)$/i;

const SHORTENERS =
  /(?:^|\.)(?:bit\.ly|tinyurl\.com|t\.co|goo\.gl|is\.gd|cutt\.ly|rb\.gy|shorturl\.at|ow\.ly|tiny\.cc|t\.ly|rebrand\.ly|v\.gd)$/i;

/**
 * Where projects publish their own tool's installer. Executing a download from there is as trustworthy as the tool;
 * anyone else's is not.
 */
const INSTALLERS =
  /^(?:astral\.sh|sh\.rustup\.rs|static\.rust-lang\.org|rustup\.rs|get\.docker\.com|bun\.(?:sh|com)|deno\.(?:land|com)|get\.pnpm\.io|install\.python-poetry\.org|get\.helm\.sh|sdk\.cloud\.google\.com|fly\.io|get\.sdkman\.io|get\.k3s\.io|get\.volta\.sh|fnm\.vercel\.app|mise\.(?:run|jdx\.dev)|nixos\.org|install\.determinate\.systems|ollama\.com|ollama\.ai|claude\.ai|cli\.github\.com|deb\.nodesource\.com|rpm\.nodesource\.com|get\.starship\.rs|starship\.rs|foundry\.paradigm\.xyz|release\.anza\.xyz|release\.solana\.com|bootstrap\.pypa\.io|pyenv\.run|get\.rvm\.io|brew\.sh|cursor\.com|opencode\.ai|pixi\.sh|dl\.k8s\.io|tailscale\.com|get\.pulumi\.com|install\.duckdb\.org|cli\.doppler\.com|esm\.sh|dot\.net|aka\.ms)$/i;

/** Repositories whose raw files are a tool's documented installer. */
const RAW_FILES =
  /^(?:raw\.githubusercontent\.com|gist\.githubusercontent\.com|github\.com|gist\.github\.com|gitlab\.com|bitbucket\.org)$/i;

export type HostKind = "drop" | "shortener" | "address" | "installer" | "repository" | "local" | "other";

/** `undefined` if the text has no host. */
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

/** Token forms of well-known services, designed by their makers to be recognizable. */
/** Global: use `matchAll` or `search`. Every repetition is bounded, so that no text can keep a search busy. */
export const TOKEN_FORMS: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "an AWS access key", pattern: /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g },
  {
    what: "a GitHub token",
    pattern: /\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{60,255}\b/g,
  },
  { what: "a GitLab token", pattern: /\bglpat-[A-Za-z0-9_-]{20,300}\b/g },
  { what: "an Anthropic key", pattern: /\bsk-ant-(?:api|admin|oat)\d{2}-[A-Za-z0-9_-]{60,300}\b/g },
  {
    what: "an OpenAI key",
    pattern:
      /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,200}T3BlbkFJ[A-Za-z0-9_-]{20,200}\b|\bsk-[A-Za-z0-9]{48}\b/g,
  },
  { what: "a Slack token", pattern: /\bxox[abposr]-\d{8,20}-\d{8,20}-[A-Za-z0-9-]{20,200}\b/g },
  {
    what: "a Slack webhook",
    pattern: /https:\/\/hooks\.slack\.com\/services\/T[A-Z0-9]{8,20}\/B[A-Z0-9]{8,20}\/[A-Za-z0-9]{24}/g,
  },
  {
    what: "a Discord webhook",
    pattern: /https:\/\/(?:\w{1,20}\.)?discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,200}/g,
  },
  { what: "a Stripe key", pattern: /\b[rs]k_live_[A-Za-z0-9]{24,300}\b/g },
  { what: "a Google API key", pattern: /\bAIza[A-Za-z0-9_-]{35}\b/g },
  { what: "a Google client secret", pattern: /\bGOCSPX-[A-Za-z0-9_-]{28}\b/g },
  { what: "an npm token", pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { what: "a PyPI token", pattern: /\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,400}\b/g },
  { what: "a Hugging Face token", pattern: /\bhf_[A-Za-z0-9]{34}\b/g },
  { what: "a SendGrid key", pattern: /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b/g },
  { what: "a Telegram bot token", pattern: /\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b/g },
  { what: "a Twilio key", pattern: /\bSK[0-9a-f]{32}\b/g },
];

/** All forms at once: most texts have none. */
const ANY_TOKEN = new RegExp(TOKEN_FORMS.map(({ pattern }) => `(?:${pattern.source})`).join("|"));

/** Every form has at least this many letters, digits, `_` and `-` in a row, and none spans lines. */
const TOKEN_RUN = 20;

/**
 * Whether it contains a token of a known form: only checks lines with such a long run, of which most texts have few.
 */
export function hasToken(text: string): boolean {
  // Checking every twentieth position finds every such run.
  for (let at = TOKEN_RUN - 1; at < text.length; ) {
    let start = at;
    while (start >= 0 && isInToken(text.charCodeAt(start))) start--;
    let end = at;
    while (end < text.length && isInToken(text.charCodeAt(end))) end++;
    at = end + TOKEN_RUN - (end > at ? 1 : 0);
    if (end - start <= TOKEN_RUN) continue;
    const lineEnd = text.indexOf("\n", end);
    const lineStart = text.lastIndexOf("\n", end - 1) + 1;
    if (ANY_TOKEN.test(text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd))) return true;
    if (lineEnd === -1) return false;
    at = lineEnd + TOKEN_RUN;
  }
  return false;
}

const TOKEN_UNITS = Uint8Array.from({ length: 128 }, (_, unit) =>
  Number(/[\w-]/.test(String.fromCharCode(unit))),
);

function isInToken(unit: number): boolean {
  return unit < TOKEN_UNITS.length && TOKEN_UNITS[unit] === 1;
}
