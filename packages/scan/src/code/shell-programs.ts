/** Shell programs by purpose: how they are started, and what they read, write and delete. */
import {
  type CodeLanguage,
  hasTaint,
  NO_TAINTS,
  type Taints,
  taint,
  UNKNOWN,
  uniteTaints,
  withoutTaint,
} from "./code-part.ts";
import type { ReadCommand, ShellWalk } from "./follow-shell.ts";
import { secretKindOf } from "./known-secrets.ts";
import type { ShellWord } from "./shell-words.ts";

/** Programs that start the program after them, and which words are their own. */
const WRAPPERS: readonly (readonly [RegExp, RegExp])[] = [
  [/^sudo$/, /^-(?!-$)|^\w+=/],
  [/^env$/, /^-|^\w+=/],
  [/^command$/, /^-[pvV]/],
  [/^timeout$/, /^-|^\d+[smhd]?$/],
  [/^xargs$/, /^-|^\{\}$|^\d+$/],
  [/^(?:nice|ionice|watch)$/, /^-|^\d+$/],
  [/^(?:doas|nohup|exec|builtin|time|setsid|stdbuf|busybox|caffeinate|parallel)$/, /^-/],
];

/** Wrapper options that take the next word as their value. */
const WITH_VALUE = /^-(?:[ugChnILPsk])$/;

/** How many wrapper words precede the program itself. */
export function countWrappers(words: readonly string[]): number {
  let at = 0;
  for (let own = ownWords(words[at]); own !== undefined; own = ownWords(words[at])) {
    let next = at + 1;
    while (own.test(words[next] ?? "")) next += WITH_VALUE.test(words[next] ?? "") ? 2 : 1;
    if (next >= words.length) return at;
    at = next;
  }
  return at;
}

function ownWords(word: string | undefined): RegExp | undefined {
  const program = baseName(word ?? "");
  return WRAPPERS.find(([wrapper]) => wrapper.test(program))?.[1];
}

export function baseName(word: string): string {
  return (word.split(/[/\\]/).at(-1) ?? "").replace(/\.exe$/i, "");
}

export interface Interpreter {
  readonly language: CodeLanguage;
  /** The option before code on the command line. */
  readonly code: RegExp;
}

const INTERPRETERS: readonly (readonly [RegExp, Interpreter])[] = [
  [/^(?:ba|z|da|k|a|fi|c|tc)?sh$/, { language: "shell", code: /^-[a-z]*c$/ }],
  [/^(?:python[\d.]*|pypy3?)$/, { language: "python", code: /^-[A-Za-z]*c$/ }],
  [
    /^(?:node|nodejs|deno|bun|tsx|ts-node)$/,
    { language: "javascript", code: /^-(?:e|p|pe|-eval|-print)$|^eval$/ },
  ],
  [/^(?:pwsh|powershell)$/i, { language: "powershell", code: /^-(?:c|command|e|ec|enc|encodedcommand)$/i }],
  [/^perl$/, { language: "perl", code: /^-[a-zA-Z]*[eE]$/ }],
  [/^ruby$/, { language: "ruby", code: /^-[a-zA-Z]*e$/ }],
  [/^php$/, { language: "php", code: /^-r$/ }],
  [/^lua$/, { language: "lua", code: /^-e$/ }],
];

export function interpreterOf(program: string): Interpreter | undefined {
  return INTERPRETERS.find(([pattern]) => pattern.test(program))?.[1];
}

/** Programs whose arguments are files that they read and output. */
const READERS =
  /^(?:cat|bat|head|tail|less|more|tac|nl|strings|xxd|od|hexdump|base64|base32|gzip|bzip2|xz|zstd|tar|zip|7z|rar|cp|mv|rsync|scp|grep|egrep|rg|awk|gawk|sed|cut|sort|tr|jq|yq|openssl|gpg|find|split|dd|sqlite3|curl|wget|http|xh|nc|ncat|tee|source|\.|pbcopy|xclip|type|Get-Content|gc)$/i;

const DECODERS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:base64|base32|gbase64)$/, /^(?:-d|-D|--decode|-di|-id)$/],
  [/^xxd$/, /^-(?:r|rp|r?p?r|p -r)$/],
  [/^openssl$/, /^-d$/],
  [/^uudecode$/, /^/],
  [/^rev$/, /^/],
  [/^tr$/, /^['"]?(?:A-Za-z|a-zA-Z|A-Z|a-z|N-ZA-Mn-za-m|n-za-mN-ZA-M)['"]?$/],
];

/** Whether it decodes its input. */
function decodes(program: string, words: readonly string[]): boolean {
  const option = DECODERS.find(([pattern]) => pattern.test(program))?.[1];
  if (option === undefined) return false;
  if (program === "tr") return words.some((word) => /N-ZA-M|n-za-m/.test(word));
  return words.length === 0 ? option.test("") : words.some((word) => option.test(word));
}

const PACKERS = /^(?:tar|zip|7z|rar|gzip|cp|mv|openssl|dd|split)$/;
/** Programs that pick single values out of a text. */
const PICKERS = /^(?:grep|egrep|rg|awk|gawk|sed|cut|jq|yq)$/;

/** The taints of its output. */
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

/** Tools that print their own token, and its usual name. */
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

/** Passes on its input or the files it reads, perhaps in another form. */
function passThrough(command: ReadCommand, walk: ShellWalk): Taints {
  const { program, words, input } = command;
  const values = words.map(({ value }) => value);
  const read = words.map((word) =>
    READERS.test(program) ? readWordContent(word, command, walk) : withoutTaint(word.taints, "secret-path"),
  );
  const decoded = decodes(program, values) ? taint("decoded") : NO_TAINTS;
  const all = uniteTaints(input, decoded, printedToken(program, values), ...read);
  const output = PICKERS.test(program) ? withoutProjectSecrets(all) : all;
  if (PACKERS.test(program)) {
    for (const value of values) if (!value.startsWith("-")) walk.markFile(value.replace(/^of=/, ""), output);
  }
  return output;
}

/** The content of a named file, or the word itself. */
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

/** A single value from a project's own settings is configuration. */
function withoutProjectSecrets(taints: Taints): Taints {
  const isProject = (path: string): boolean => path === UNKNOWN || secretKindOf(path) === "project";
  return new Set([...taints].filter((mark) => !(mark.startsWith("secret ") && isProject(mark.slice(7)))));
}
