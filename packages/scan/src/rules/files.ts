/** Files that are not what they seem, or that nobody can read. */
import { extname } from "node:path";
import { promisedKinds, signatureOf } from "../file-types.ts";
import type { Hit, RuleTable, ScannedFile, ScannedSkill } from "../scanned-skill.ts";

function* eachFile(
  skill: ScannedSkill,
  look: (file: ScannedFile) => Omit<Hit, "path" | "line"> | undefined,
): Iterable<Hit> {
  for (const file of skill.files) {
    const hit = look(file);
    if (hit) yield { path: file.path, line: 1, ...hit };
  }
}

const RUNNABLE = /\.(?:exe|scr|com|bat|cmd|ps1|vbs|js|jse|jar|sh|py|app|msi|dmg|pkg|lnk|hta|apk|command)$/i;
const HARMLESS_LOOK = /\.(?:pdf|docx?|xlsx?|pptx?|txt|png|jpe?g|gif|md|csv|zip|mp[34])\.[a-z0-9]+$/i;
/** Common dotfiles of tools. */
const USUAL_DOT_FILES =
  /(?:^|\/)\.(?:git(?:ignore|attributes|keep|modules)|editorconfig|npmignore|npmrc|nvmrc|prettier\w*|eslint\w*|env\.example|env\.sample|env\.template|markdownlint\S*|python-version|tool-versions|dockerignore|DS_Store|claude-plugin|github|vscode|gitlab-ci\.yml|pre-commit-config\.yaml|ruff\.toml|flake8|pylintrc|coveragerc|node-version|clawhub\S*|openclaw\S*)(?:$|\/)/;

export const FILE_RULES: RuleTable = {
  "files.executable": {
    severity: "high",
    title: "A file is a compiled program",
    explanation: "Nobody can see what it does. A skill can list the programs it needs in `packages`.",
    help: "Ship the source, or name the package.",
    find: (skill) =>
      eachFile(skill, ({ signature, path }) =>
        signature?.kind === "executable" ? { seen: path, detail: signature.what } : undefined,
      ),
  },
  "files.bytecode": {
    severity: "high",
    title: "A file is bytecode",
    explanation:
      "Python runs a `.pyc` in place of a source file that may say something else. WebAssembly and native libraries are `medium`: some tools need them.",
    help: "Delete it; it is rebuilt from the source.",
    find: (skill) =>
      eachFile(skill, ({ signature, path }) => {
        if (signature?.kind === "bytecode" && /\.(?:pyc|pyo|class|dex|luac)$/i.test(path))
          return { seen: path, detail: signature.what };
        if (/\.(?:pyc|pyo)$/i.test(path)) return { seen: path };
        return signature?.kind === "wasm"
          ? { seen: path, detail: signature.what, severity: "medium" }
          : undefined;
      }),
  },
  "files.archive": {
    severity: "medium",
    title: "A file is an archive, which is not scanned",
    explanation:
      "Packed files are neither scanned nor seen in a review. Office documents are archives too, but do not count.",
    help: "Ship the files unpacked.",
    find: (skill) =>
      eachFile(skill, ({ signature, path, head }) => {
        if (signature?.kind !== "archive" || promisedKinds(path) !== undefined) return undefined;
        const isLocked =
          head !== undefined && signature.what === "a ZIP archive" && ((head[6] ?? 0) & 1) === 1;
        return {
          seen: path,
          detail: isLocked ? `${signature.what}, with a password` : signature.what,
          severity: "medium",
        };
      }),
  },
  "files.disguised": {
    severity: "high",
    title: "A file is not what its name says",
    explanation:
      "A program named `logo.png`, or an executable script named `notes.txt`, is meant to be overlooked.",
    help: "Do not use the skill. If it is yours, give the file its correct extension.",
    find: (skill) => eachFile(skill, findDisguise),
  },
  "files.double-ending": {
    severity: "high",
    title: "A file has two extensions, and the last one runs",
    explanation: "`report.pdf.exe` appears as `report.pdf` where extensions are hidden.",
    help: "Do not use the skill. If it is yours, rename the file.",
    find: (skill) =>
      eachFile(skill, ({ path }) =>
        HARMLESS_LOOK.test(path) && RUNNABLE.test(path) ? { seen: path } : undefined,
      ),
  },
  "files.appended": {
    severity: "high",
    title: "Data is appended to an image or document",
    explanation: "A file that starts as an image and ends as an archive or script can be opened as either.",
    help: "Do not use the skill. If it is yours, save the image again.",
    find: (skill) => eachFile(skill, findAppended),
  },
  "files.hidden-code": {
    severity: "medium",
    title: "A hidden file or folder contains code",
    explanation:
      "Files whose names start with a dot are not listed, so a review misses them. Settings of common tools do not count.",
    help: "Give the file a visible name.",
    find: (skill) =>
      eachFile(skill, ({ path, language, executable, signature }) => {
        const isHidden =
          path.split("/").some((segment) => segment.startsWith(".")) && !USUAL_DOT_FILES.test(path);
        const isCode = language !== undefined || executable || signature?.kind === "executable";
        return isHidden && isCode ? { seen: path } : undefined;
      }),
  },
  "files.link": {
    severity: "high",
    title: "A link points outside the skill's folder",
    explanation: "Reading the skill would read a file of the machine. Links within the folder do not count.",
    help: "Copy the file into the skill.",
    find: (skill) =>
      eachFile(skill, ({ kind, path, target }) => {
        if (kind !== "link" || target === undefined || !leavesFolder(path, target)) return undefined;
        return { seen: `${path} -> ${target}`, detail: `\`${target}\`` };
      }),
  },
  "files.special": {
    severity: "high",
    title: "A file is a device, a pipe or a socket",
    explanation: "Reading it can block forever or affect the machine. A skill consists of regular files.",
    help: "Delete it.",
    find: (skill) => eachFile(skill, ({ kind, path }) => (kind === "special" ? { seen: path } : undefined)),
  },
  "files.unread": {
    severity: "medium",
    title: "A file could not be scanned completely",
    explanation:
      "Its content is unknown: it cannot be read, exceeds the scan's size limit, or holds code nested too deeply to follow. Large data files and libraries are `low`.",
    help: "Make it readable, smaller or simpler, or leave it out.",
    *find({ unread }) {
      for (const { path, reason } of unread) {
        const isData = (/^Not read as text/.test(reason) && DATA.test(path)) || / are parsed\.$/.test(reason);
        const detail = reason.slice(0, 1).toLowerCase() + reason.slice(1).replace(/\.$/, "");
        yield { path, line: 1, seen: path, detail, severity: isData ? "low" : "medium" };
      }
    },
  },
};

const DATA = /\.(?:json|jsonl|csv|tsv|txt|xml|svg|sql|geojson|log|lock|html|ipynb|map)$/i;

function findDisguise(file: ScannedFile): Omit<Hit, "path" | "line"> | undefined {
  const { path, signature, text, executable, head, size } = file;
  const promised = promisedKinds(path);
  if (promised !== undefined) {
    if (signature !== undefined)
      return promised.includes(signature.kind)
        ? undefined
        : { seen: path, detail: `it is ${signature.what}` };
    const isScript =
      text !== undefined &&
      /^#!|^\s*(?:import\s+\w+|<\?php|<script|function\s*\w*\(|curl\s|wget\s)/.test(text);
    if (isScript) return { seen: path, detail: "it is a script" };
    const isPointer = text !== undefined && /^version https:\/\/git-lfs/.test(text);
    return text !== undefined && size > 0 && !isPointer
      ? { seen: path, detail: "it is text", severity: "low" }
      : undefined;
  }
  const ending = extname(path).toLowerCase();
  if (signature?.kind === "executable" && /^\.(?:txt|md|json|yaml|yml|csv|py|js|sh|html|css)$/.test(ending))
    return { seen: path, detail: `it is ${signature.what}` };
  if (
    signature === undefined &&
    head !== undefined &&
    /^\.(?:md|txt|py|js|ts|sh|json|yaml|yml)$/.test(ending)
  )
    return { seen: path, detail: "it is not text", severity: "medium" };
  const isQuietScript =
    executable &&
    text !== undefined &&
    /^#!/.test(text) &&
    /^\.(?:txt|md|json|csv|ya?ml|log|dat|png|jpg)$/.test(ending);
  return isQuietScript ? { seen: path, detail: "it is an executable script" } : undefined;
}

/** After the last block of a PNG, the end marker of a JPEG, the end of a PDF. */
const ENDS: readonly (readonly [string, string])[] = [
  ["a PNG image", "IEND\xaeB`\x82"],
  ["a JPEG image", "\xff\xd9"],
  ["a GIF image", "\0;"],
  ["a PDF document", "%%EOF"],
];

function findAppended({ path, signature, tail }: ScannedFile): Omit<Hit, "path" | "line"> | undefined {
  const end = ENDS.find(([what]) => what === signature?.what)?.[1];
  if (end === undefined || tail === undefined) return undefined;
  const bytes = Buffer.from(tail);
  const at = bytes.lastIndexOf(Buffer.from(end, "latin1"));
  if (at === -1) return undefined;
  const rest = bytes.subarray(at + end.length);
  const trimmed = rest.toString("latin1").replace(/^[\s\0]+/, "");
  const inner = signatureOf(Buffer.from(trimmed, "latin1"));
  const isScript = /^#!|^<\?php|^<script|^(?:import|from)\s+\w+|(?:curl|wget|base64|eval|exec)\b/.test(
    trimmed.slice(0, 400),
  );
  if (inner?.kind === "archive" || inner?.kind === "executable")
    return { seen: path, detail: `${inner.what} after ${signature?.what}` };
  return isScript ? { seen: path, detail: `a script after ${signature?.what}` } : undefined;
}

function leavesFolder(path: string, target: string): boolean {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(target)) return true;
  let depth = path.split("/").length - 1;
  for (const segment of target.split(/[/\\]/)) {
    if (segment === "..") depth--;
    else if (segment !== "." && segment !== "") depth++;
    if (depth < 0) return true;
  }
  return false;
}
