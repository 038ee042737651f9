/** What programs of the shell do with their words. */
import type { CodeLanguage } from "./code-part.ts";

/** Programs that start the one named behind them, and which words are their own. */
const WRAPPERS: Readonly<Record<string, RegExp | undefined>> = {
  sudo: /^-(?!-$)|^\w+=/,
  doas: /^-/,
  env: /^-|^\w+=/,
  nohup: /^-/,
  command: /^-[pvV]/,
  exec: /^-/,
  builtin: /^-/,
  nice: /^-|^\d+$/,
  ionice: /^-|^\d+$/,
  time: /^-/,
  timeout: /^-|^\d+[smhd]?$/,
  xargs: /^-|^\{\}$|^\d+$/,
  setsid: /^-/,
  stdbuf: /^-/,
  busybox: /^-/,
  watch: /^-|^\d+$/,
  caffeinate: /^-/,
  parallel: /^-/,
};

/** Options of wrappers that take the next word with them. */
const WITH_VALUE = /^-(?:[ugChnILPsk])$/;

/** How many words of wrappers stand before the program itself. */
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
  return WRAPPERS[baseName(word ?? "")];
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

/** Programs whose arguments are files that they read and pass on. */
const READERS =
  /^(?:cat|bat|head|tail|less|more|tac|nl|strings|xxd|od|hexdump|base64|base32|gzip|bzip2|xz|zstd|tar|zip|7z|rar|cp|mv|rsync|scp|grep|egrep|rg|awk|gawk|sed|cut|sort|tr|jq|yq|openssl|gpg|find|split|dd|sqlite3|curl|wget|http|xh|nc|ncat|tee|source|\.|pbcopy|xclip|type|Get-Content|gc)$/i;

export function readsFiles(program: string): boolean {
  return READERS.test(program);
}

const DECODERS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:base64|base32|gbase64)$/, /^(?:-d|-D|--decode|-di|-id)$/],
  [/^xxd$/, /^-(?:r|rp|r?p?r|p -r)$/],
  [/^openssl$/, /^-d$/],
  [/^uudecode$/, /^/],
  [/^rev$/, /^/],
  [/^tr$/, /^['"]?(?:A-Za-z|a-zA-Z|A-Z|a-z|N-ZA-Mn-za-m|n-za-mN-ZA-M)['"]?$/],
];

/** Whether it turns a disguise into what it stands for. */
export function decodes(program: string, words: readonly string[]): boolean {
  const option = DECODERS.find(([pattern]) => pattern.test(program))?.[1];
  if (option === undefined) return false;
  if (program === "tr") return words.some((word) => /N-ZA-M|n-za-m/.test(word));
  return words.length === 0 ? option.test("") : words.some((word) => option.test(word));
}
