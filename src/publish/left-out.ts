/** What is in a skill's folder but never part of what is published: the traces of working on it, and secrets. */

export interface LeftOut {
  /** Below the skill's folder, with `/`; a folder ends in one. */
  readonly path: string;
  /** What it is. */
  readonly reason: string;
}

interface Exclusion {
  readonly reason: string;
  /** Names of folders, in any place. */
  readonly folders?: RegExp;
  /** Names of files and links, in any place. */
  readonly files?: RegExp;
  /** Names of folders directly in the skill. */
  readonly topFolders?: RegExp;
}

const EXCLUSIONS: readonly Exclusion[] = [
  { reason: "version control", folders: /^\.(?:git|hg|svn|jj|bzr)$/i, files: /^\.git$/i },
  {
    reason: "left by an editor or a system",
    folders: /^(?:\.idea|\.vscode|\.vs|\.fleet|__MACOSX)$/,
    files:
      /~$|^#.*#$|^\.#|^\..*\.sw[a-p]$|^\._|\.(?:bak|orig|rej|tmp)$|^(?:\.DS_Store|Thumbs\.db|desktop\.ini|\.directory)$/i,
  },
  {
    reason: "made by tools, and made anew where it is needed",
    folders: /^(?:node_modules|__pycache__|\.venv|venv|\.(?:pytest|mypy|ruff)_cache|\.ipynb_checkpoints)$/,
    files: /\.py[co]$/i,
  },
  { reason: "evaluations and what they wrote", topFolders: /^evals$|(?:^|-)workspace$/ },
  {
    reason: "named like a secret",
    folders: /^\.(?:ssh|gnupg|aws|azure|kube)$/,
    files:
      /^\.env(?!\.(?:example|sample|template|dist)$)(?:\..*)?$|^\.(?:netrc|pypirc|pgpass|git-credentials|vault-token)$|^id_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:p12|pfx|jks|keystore|kdbx)$/i,
  },
];

/** Why the file or folder is left out; nothing for what is published. */
export function reasonToLeaveOut(path: string, isFolder: boolean): string | undefined {
  const segments = path.split("/");
  const name = segments.at(-1) ?? "";
  const isTop = segments.length === 1;
  return EXCLUSIONS.find(({ folders, files, topFolders }) =>
    isFolder ? folders?.test(name) || (isTop && topFolders?.test(name)) : files?.test(name),
  )?.reason;
}
