/** Which files hold what only their owner should read, and which make things happen later. Paths begin with `~` for the home folder. */
import { UNKNOWN } from "./act.ts";

export type SecretKind = "private-key" | "cloud" | "browser" | "keychain" | "agent" | "process" | "project";

interface SecretPlace {
  readonly kind: SecretKind;
  readonly pattern: RegExp;
}

/** A separator, the beginning, or something unknown that may end in one. */
const START = `(?:^|[/\\\\\\s"'=@:(,${UNKNOWN}])`;
const END = `(?=$|[/\\\\\\s"'):,;*${UNKNOWN}])`;

function place(kind: SecretKind, source: string): SecretPlace {
  return { kind, pattern: new RegExp(`${START}(?:${source})${END}`, "i") };
}

const SECRET_PLACES: readonly SecretPlace[] = [
  place("private-key", String.raw`\.ssh/(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|\*|[\w-]*key|[\w-]+\.pem)`),
  place("private-key", String.raw`\.ssh/?(?=$|[\s"')])`),
  place("private-key", "id_(?:rsa|ed25519|ecdsa|dsa)"),
  place("private-key", String.raw`\.gnupg(?:/(?:private-keys[\w.-]*|secring\.gpg))?`),
  place(
    "private-key",
    String.raw`(?:\.ethereum/keystore|\.bitcoin/wallet\.dat|wallet\.dat|\.electrum/wallets|\.config/solana/id\.json|Exodus/exodus\.wallet|\.ethereum|Ethereum/keystore|nkbihfbeogaeaoehlefnkodbefgpgknn)`,
  ),
  place(
    "cloud",
    String.raw`(?:\.aws/(?:credentials|config)|\.aws|\.config/gcloud(?:/[\w.-]+)?|application_default_credentials\.json|\.azure(?:/[\w.-]+)?|\.kube/config|\.docker/config\.json|\.npmrc|\.pypirc|\.netrc|_netrc|\.git-credentials|\.config/git/credentials|\.config/gh/hosts\.yml|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.m2/settings\.xml|\.terraform\.d/credentials\.tfrc\.json|\.vault-token|\.pgpass|\.my\.cnf|\.config/hub|\.oci/config|\.databrickscfg|\.huggingface/token|\.cache/huggingface/token|\.config/rclone/rclone\.conf|\.s3cfg|\.boto)`,
  ),
  place(
    "browser",
    String.raw`(?:Login Data|Local State|cookies\.sqlite|logins\.json|key[34]\.db|(?:Google/Chrome|google-chrome|chromium|BraveSoftware|Microsoft[ /]?Edge|Chrome/User Data|Firefox/Profiles|\.mozilla/firefox|Default/Cookies)(?:/[\w .*-]+)*|Cookies\.binarycookies)`,
  ),
  place(
    "keychain",
    String.raw`(?:/?etc/(?:shadow|gshadow|master\.passwd)|Library/Keychains(?:/[\w.-]+)*|login\.keychain(?:-db)?|\.local/share/keyrings(?:/[\w.-]+)*|\.password-store|\.config/1Password|\.config/op|[\w-]+\.kdbx|NTDS\.dit|config/SAM)`,
  ),
  place(
    "agent",
    String.raw`(?:\.claude\.json|\.claude/(?:\.credentials\.json|credentials\.json|history\.jsonl)|\.codex/auth\.json|\.gemini/oauth_creds\.json|\.openclaw/(?:openclaw\.json|credentials[\w/.-]*|\.env)|\.clawdbot/[\w/.-]+|\.config/github-copilot/(?:hosts|apps)\.json|\.metier/(?:vault|config\.toml|grants\.json))`,
  ),
  place("process", String.raw`/?proc/(?:self|\d+|\*|\$\w+|${UNKNOWN}|\[0-9\]\*)/environ`),
  place("project", String.raw`\.env(?:\.(?:local|production|prod|development|staging))?`),
  place("private-key", String.raw`\.(?:bash|zsh|python|node_repl|mysql|psql)_history`),
];

/** `.pub` and what only says whom one knows is no secret; examples are none either. */
const HARMLESS = /\.pub$|known_hosts|authorized_keys|\.(?:example|sample|template|dist)$|\.ssh\/config$/i;

/** What a path, or a text with paths in it, leads to. */
export function secretKindOf(path: string): SecretKind | undefined {
  if (HARMLESS.test(path.trim())) return undefined;
  return SECRET_PLACES.find(({ pattern }) => pattern.test(path))?.kind;
}

export type LastingKind = "shell-profile" | "scheduled" | "authorized-keys" | "git-hook" | "agent-config";

const HOME = `(?:^|[\\s"'=]|/(?:root|home/[^/]+|Users/[^/]+)/|[~${UNKNOWN}]/)`;

const LASTING_PLACES: readonly { readonly kind: LastingKind; readonly pattern: RegExp }[] = [
  { kind: "authorized-keys", pattern: /(?:^|[/"'\s])\.ssh\/(?:authorized_keys2?|rc)\b/ },
  {
    kind: "shell-profile",
    pattern: new RegExp(
      `${HOME}\\.(?:bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|config/fish/config\\.fish)\\b|/etc/(?:profile(?:\\.d/|\\b)|bash\\.bashrc|zsh/|environment\\b|ld\\.so\\.preload)|Microsoft\\.PowerShell_profile\\.ps1`,
    ),
  },
  {
    kind: "scheduled",
    pattern:
      /\/etc\/cron(?:tab\b|\.\w+)|\/var\/spool\/cron|(?:\/etc|\.config|\/lib|\/usr\/lib)\/systemd\/(?:system|user)\/|Library\/Launch(?:Agents|Daemons)\/|\.config\/autostart\/|\/etc\/(?:init\.d|rc\.local)|Start Menu\/Programs\/Startup|CurrentVersion\\+Run/i,
  },
  { kind: "git-hook", pattern: /\.git\/hooks\/\w|\.config\/git\/hooks|\.husky\/\w/ },
  {
    kind: "agent-config",
    pattern:
      /(?:^|[/"'\s~])\.(?:claude\/(?:settings(?:\.local)?\.json|CLAUDE\.md|hooks\/|agents\/|commands\/)|claude\.json\b|codex\/(?:config\.toml|AGENTS\.md)|gemini\/settings\.json|cursor\/(?:mcp\.json|rules|hooks\.json)|vscode\/(?:settings|tasks|mcp)\.json|mcp\.json\b|metier\/(?:config\.toml|grants\.json)|openclaw\/openclaw\.json|continue\/config\.\w+|cursorrules\b|windsurfrules\b)|(?:^|[/"'\s])(?:CLAUDE|AGENTS|GEMINI|SOUL|MEMORY)\.md\b|claude_desktop_config\.json/,
  },
];

/** What writing to the path makes happen later. */
export function lastingKindOf(path: string): LastingKind | undefined {
  return LASTING_PLACES.find(({ pattern }) => pattern.test(path))?.kind;
}

/** Names of variables that hold credentials. */
const SECRET_VARIABLE =
  /(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET(?:_?KEY)?|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PRIVATE_?KEY|CREDENTIALS?|CONNECTION_STRING|DATABASE_URL|MNEMONIC|SEED_PHRASE)(?:_|$|S$)/i;

export function isSecretVariable(name: string): boolean {
  return SECRET_VARIABLE.test(name);
}
