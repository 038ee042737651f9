/** Commands of the shell that read, change, write and delete what is on the machine. */
import { UNKNOWN } from "./act.ts";
import type { ReadCommand, ShellWalk } from "./follow-shell.ts";
import { secretKindOf } from "./sensitive-paths.ts";
import { decodes, readsFiles } from "./shell-programs.ts";
import type { ShellWord } from "./shell-words.ts";
import { hasTaint, NO_TAINTS, type Taints, taint, uniteTaints, withoutTaint } from "./taint.ts";

const PACKERS = /^(?:tar|zip|7z|rar|gzip|cp|mv|openssl|dd|split)$/;
/** What picks single values out of a text. */
const PICKERS = /^(?:grep|egrep|rg|awk|gawk|sed|cut|jq|yq)$/;

/** The marks of what it prints. */
export function useTool(command: ReadCommand, walk: ShellWalk): Taints {
  const { program, words, input } = command;
  const values = words.map(({ value }) => value);
  if (listsEnvironment(program, values)) return taint("environment");
  if (/^(?:rm|rmdir|unlink|shred|srm|del|Remove-Item)$/i.test(program)) {
    const target = values.filter((value) => !value.startsWith("-")).join(" ");
    walk.record("delete", command, NO_TAINTS, { words: [program, ...values], target });
    return NO_TAINTS;
  }
  if (program === "read") {
    for (const value of values) if (/^\w+$/.test(value)) walk.set(value, undefined, input);
    return NO_TAINTS;
  }
  const own = uniteTaints(...words.map(({ taints }) => withoutTaint(taints, "secret-path")));
  writeFiles(command, uniteTaints(input, own), walk);
  if (/^(?:echo|printf)$/.test(program)) return own;
  return spy(command, walk) ?? passThrough(command, walk);
}

/** Tools that print the token they sign in with, and what it is usually called. */
const TOKEN_PRINTERS: readonly (readonly [RegExp, string])[] = [
  [/^gh auth token\b/, "GITHUB_TOKEN"],
  [/^gcloud auth (?:application-default )?print-access-token\b/, "GOOGLE_APPLICATION_TOKEN"],
  [/^aws configure (?:get|export-credentials)\b/, "AWS_SECRET_ACCESS_KEY"],
  [/^az account get-access-token\b/, "AZURE_CLIENT_SECRET"],
  [/^npm config get .*_authToken/, "NPM_TOKEN"],
  [/^security find-(?:generic|internet)-password\b.* -w\b/, "KEYCHAIN_PASSWORD"],
  [/^(?:op read|vault (?:read|kv get)|pass show|heroku auth:token)\b/, "VAULT_SECRET"],
];

function printedToken(program: string, values: readonly string[]): Taints {
  const line = [program, ...values].join(" ");
  const name = TOKEN_PRINTERS.find(([pattern]) => pattern.test(line))?.[1];
  return name === undefined ? NO_TAINTS : taint("variable", name);
}

function listsEnvironment(program: string, values: readonly string[]): boolean {
  if (/^(?:Get-ChildItem|gci|dir)$/i.test(program)) return values.some((value) => /^env:/i.test(value));
  const isLister = /^(?:env|printenv|set|export|declare|typeset)$/.test(program);
  return isLister && values.every((value) => /^-[px0]+$/.test(value));
}

/** Clipboard and screen. */
function spy(command: ReadCommand, walk: ShellWalk): Taints | undefined {
  const { program, words } = command;
  const values = words.map(({ value }) => value);
  if (/^(?:pbpaste|xsel)$/.test(program) || (program === "xclip" && values.includes("-o"))) {
    walk.record("read", command, taint("secret", "clipboard"), { target: "clipboard" });
    return taint("secret", "the clipboard");
  }
  if (!/^(?:screencapture|scrot|gnome-screenshot|grim)$/.test(program)) return undefined;
  walk.record("read", command, taint("secret", "screen"), { target: "screen" });
  for (const value of values) if (!value.startsWith("-")) walk.markFile(value, taint("secret", "the screen"));
  return NO_TAINTS;
}

/** What comes in or is read from files goes on, perhaps in another form. */
function passThrough(command: ReadCommand, walk: ShellWalk): Taints {
  const { program, words, input } = command;
  const values = words.map(({ value }) => value);
  const read = words.map((word) =>
    readsFiles(program) ? readWordContent(word, command, walk) : withoutTaint(word.taints, "secret-path"),
  );
  const decoded = decodes(program, values) ? taint("decoded") : NO_TAINTS;
  const all = uniteTaints(input, decoded, printedToken(program, values), ...read);
  const output = PICKERS.test(program) ? withoutProjectSecrets(all) : all;
  if (PACKERS.test(program)) {
    for (const value of values) if (!value.startsWith("-")) walk.markFile(value.replace(/^of=/, ""), output);
  }
  return output;
}

/** The content of a file that is named, or the word itself. */
export function readWordContent(word: ShellWord, command: ReadCommand, walk: ShellWalk): Taints {
  const path = word.value.replace(/^[\w-]*=?@/, "");
  const known = uniteTaints(withoutTaint(word.taints, "secret-path"), walk.fileTaints(path));
  if (!hasTaint(word.taints, "secret-path")) return known;
  const taints = taint("secret", path);
  walk.record("read", command, taints, { target: path });
  return uniteTaints(taints, known);
}

/** Programs that write to the files they name. */
function writeFiles(command: ReadCommand, taints: Taints, walk: ShellWalk): void {
  const { given } = command;
  for (const { value } of writtenFiles(command)) {
    const all = uniteTaints(taints, given?.taints ?? NO_TAINTS);
    walk.record("write", command, all, { target: value, content: given?.value ?? "" });
    walk.markFile(value, taints);
  }
}

function writtenFiles({ program, words }: ReadCommand): readonly ShellWord[] {
  const files = words.filter(({ value }) => !value.startsWith("-"));
  if (program === "tee") return files;
  const isInPlace = program === "sed" && words.some(({ value }) => /^-[a-zA-Z]*i|^--in-place/.test(value));
  const hasTarget = /^(?:cp|mv|ln|install)$/.test(program) && files.length > 1;
  return isInPlace || hasTarget ? files.slice(-1) : [];
}

/** One value that is picked out of a project's own settings is configuration. */
function withoutProjectSecrets(taints: Taints): Taints {
  const isProject = (path: string): boolean => path === UNKNOWN || secretKindOf(path) === "project";
  return new Set([...taints].filter((mark) => !(mark.startsWith("secret ") && isProject(mark.slice(7)))));
}
