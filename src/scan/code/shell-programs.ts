/** What programs of the shell do with their words. */
import type { CodeLanguage } from "./code-part.ts";

/** Programs that start the one named behind them, and how many words of their own come first. */
const WRAPPERS: Readonly<Record<string, RegExp>> = {
  sudo: /^-(?!-$)|^\w+=/,
  doas: /^-/,
  env: /^-|^\w+=/,
  nohup: /^-/,
  command: /^-[pvV]/,
  exec: /^-/,
  builtin: /^$/,
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
const WITH_VALUE = /^-(?:[ugCh]|n|I|L|P|s|k)$/;

/** How many words of wrappers stand before the program itself. */
export function countWrappers(words: readonly string[]): number {
  let at = 0;
  for (let word = words[at]; word !== undefined && at < 20; word = words[at]) {
    const own = WRAPPERS[baseName(word)];
    if (own === undefined || at + 1 >= words.length) return at;
    let next = at + 1;
    while (next < words.length && own.test(words[next] ?? "")) next += WITH_VALUE.test(words[next] ?? "") && !/^\d/.test(words[next + 1] ?? "x") && baseName(word) !== "env" && baseName(word) !== "time" ? 2 : 1;
    if (next >= words.length) return at;
    at = next;
  }
  return at;
}

export function baseName(word: string): string {
  return (word.split(/[/\\]/).at(-1) ?? "").replace(/\.exe$/i, "");
}

export interface Interpreter {
  readonly language: CodeLanguage | "other";
  /** The option before code on the command line. */
  readonly code: RegExp;
}

const INTERPRETERS: readonly (readonly [RegExp, Interpreter])[] = [
  [/^(?:ba|z|da|k|a|fi|c|tc)?sh$/, { language: "shell", code: /^-[a-z]*c$/ }],
  [/^(?:python[\d.]*|pypy3?)$/, { language: "python", code: /^-[A-Za-z]*c$/ }],
  [/^(?:node|nodejs|deno|bun|tsx|ts-node)$/, { language: "javascript", code: /^-(?:e|p|pe|-eval|-print)$|^eval$/ }],
  [/^(?:pwsh|powershell)$/i, { language: "powershell", code: /^-(?:c|command|e|ec|enc|encodedcommand)$/i }],
  [/^(?:perl|ruby|php|lua|osascript|Rscript|tclsh)$/, { language: "other", code: /^-[a-zA-Z]*[er]$/ }],
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

/** How a program of the network is used. */
export interface NetworkUse {
  /** Addresses and hosts among its words. */
  readonly address: string;
  /** Positions of the words that are sent. */
  readonly sends: readonly number[];
  readonly isSending: boolean;
  /** The file the answer is written to; `-` or nothing is the standard output. */
  readonly output?: string;
}

const URL_WORD = /^(?:https?|ftps?|wss?|tcp|udp):\/\/|^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:\/\S*)?$|^\uFFFC/i;
const CURL_DATA = /^(?:-d|-F|-T|--data(?:-(?:raw|binary|urlencode|ascii))?|--form(?:-string)?|--upload-file|--json|--url-query)$/;
const CURL_OUTPUT = /^(?:-o|--output)$/;
const CURL_VALUED =
  /^(?:-[HXAebcuxmKE]|--(?:header|request|user-agent|referer|cookie|cookie-jar|user|proxy|max-time|connect-timeout|retry|resolve|cacert|cert|key|write-out|range|limit-rate|config))$|^-w$/;

export function readCurl(words: readonly string[]): NetworkUse {
  const sends: number[] = [];
  const rest: number[] = [];
  let output: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const [, long] = /^--(?:data(?:-\w+)?|form|upload-file|json)=(.*)$/s.exec(word) ?? [];
    if (long !== undefined || /^-[dFT]./.test(word)) sends.push(at);
    else if (CURL_DATA.test(word) || /^-[a-zA-Z]*[dFT]$/.test(word)) sends.push(++at);
    else if (CURL_OUTPUT.test(word) || /^-[a-zA-Z]*o$/.test(word)) output = words[++at];
    else if (/^-[a-zA-Z]*O$|^--remote-name$/.test(word)) output = "";
    else if (CURL_VALUED.test(word)) at++;
    else if (!word.startsWith("-")) rest.push(at);
  }
  const url = rest.find((at) => URL_WORD.test(words[at] ?? "")) ?? rest[0];
  const address = url === undefined ? "" : (words[url] ?? "");
  const file = output === "" ? lastSegment(address) : output;
  return { address, sends, isSending: sends.length > 0, ...(file !== undefined && { output: file }) };
}

export function readWget(words: readonly string[]): NetworkUse {
  const sends: number[] = [];
  let output: string | undefined;
  let address = "";
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (/^--(?:post-data|post-file|body-data|body-file)=/.test(word)) sends.push(at);
    else if (/^--(?:post-data|post-file|body-data|body-file)$/.test(word)) sends.push(++at);
    else if (/^-[a-zA-Z]*O$|^--output-document$/.test(word)) output = words[++at];
    else if (/^-[a-zA-Z]*O./.test(word)) output = word.replace(/^-[a-zA-Z]*O/, "");
    else if (/^--output-document=/.test(word)) output = word.slice("--output-document=".length);
    else if (!word.startsWith("-") && address === "") address = word;
  }
  return { address, sends, isSending: sends.length > 0, output: output ?? lastSegment(address) };
}

function lastSegment(address: string): string {
  return /^[a-z]+:\/\/[^/]+\/(?:[^?#]*\/)?([^/?#]+)/i.exec(address)?.[1] ?? "index.html";
}
