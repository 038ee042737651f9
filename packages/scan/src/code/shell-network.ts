/** What shell programs do with the network, and with code they are given. */
import { hasTaint, NO_TAINTS, type Taints, taint, uniteTaints, withoutTaint } from "./code-part.ts";
import type { ReadCommand, ShellWalk } from "./follow-shell.ts";
import { type Interpreter, interpreterOf, readWordContent } from "./shell-programs.ts";
import type { ShellWord } from "./shell-words.ts";

const CONNECTIONS = /^(?:nc|ncat|netcat|socat|telnet|websocat)$/;
const SENDERS = /^(?:ftp|sftp|tftp|scp|rsync|rclone|sendmail|mail|mailx|mutt|s3cmd|gsutil)$/;

/** The taints of its output; `undefined` if it does not use the network. */
export function useNetwork(command: ReadCommand, walk: ShellWalk): Taints | undefined {
  const { program, words, input } = command;
  const values = words.map(({ value }) => value);
  if (/^(?:curl|curlie)$/.test(program)) return transfer(command, readCurl(values), walk);
  if (program === "wget") return transfer(command, readWget(values), walk);
  if (/^(?:http|https|xh|httpie)$/.test(program)) return transfer(command, readHttpie(values, input), walk);
  if (CONNECTIONS.test(program) || SENDERS.test(program)) {
    const target = values.join(" ");
    const sent = uniteTaints(input, ...words.map((word) => readWordContent(word, command, walk)));
    walk.record("send", command, sent, { target });
    return CONNECTIONS.test(program) ? taint("remote", target) : NO_TAINTS;
  }
  if (!/^(?:dig|nslookup|host|drill|ping|getent)$/.test(program)) return undefined;
  const name = words.find(({ expands, value }) => expands && value.includes("."));
  if (name) walk.record("look-up", command, name.taints, { target: name.value });
  return uniteTaints(...words.map(({ taints }) => withoutTaint(taints, "secret-path")));
}

/** How a program requests an address. */
interface NetworkUse {
  readonly address: string;
  /** Positions of the words that are sent. */
  readonly sends: readonly number[];
  readonly isSending: boolean;
  /** The output file; `-` or nothing is standard output. */
  readonly output?: string | undefined;
}

function transfer(
  command: ReadCommand,
  { address, sends, isSending, output }: NetworkUse,
  walk: ShellWalk,
): Taints {
  const { words, input } = command;
  const isFromInput = sends.length === 0 || sends.some((at) => /@-|^-$/.test(words[at]?.value ?? ""));
  const sent = words.map((word, at) => {
    if (sends.includes(at) && isFileWord(word, words[at - 1])) return readWordContent(word, command, walk);
    // Services are used with a credential in a header or for signing in.
    const isMessage = sends.includes(at) || word.value === address;
    return withoutTaint(word.taints, "secret-path", ...(isMessage ? [] : (["variable"] as const)));
  });
  const taints = uniteTaints(isFromInput ? input : NO_TAINTS, ...sent);
  walk.record("fetch", command, NO_TAINTS, { target: address });
  if (isSending || hasTaint(taints, "secret", "environment", "variable")) {
    walk.record("send", command, taints, { target: address });
  }
  const remote = taint("remote", address);
  if (output === undefined || output === "-" || output === "/dev/stdout") return remote;
  walk.markFile(output, remote);
  return NO_TAINTS;
}

/** `-d @file`, `-F name=@file`, `-T file`: sends the content, not the word. */
function isFileWord({ value }: ShellWord, option: ShellWord | undefined): boolean {
  const isNamed = /^(?:-T|--upload-file|--post-file|--body-file)$/.test(option?.value ?? "");
  return isNamed || /^@|=[@<]|^\w+@|^--(?:post|body)-file=/.test(value);
}

const ADDRESS = /^(?:https?|ftps?|wss?|tcp|udp):\/\/|^[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:\/\S*)?$|^\uFFFC/i;
const CURL_DATA =
  /^(?:-[a-zA-Z]*[dFT]|--data(?:-(?:raw|binary|urlencode|ascii))?|--form(?:-string)?|--upload-file|--json|--url-query)$/;
const CURL_DATA_INSIDE = /^--(?:data(?:-\w+)?|form|upload-file|json)=|^-[dFT]./;
const CURL_VALUED =
  /^(?:-[HXAebcuxmKEw]|--(?:header|request|user-agent|referer|cookie|cookie-jar|user|proxy|max-time|connect-timeout|retry|resolve|cacert|cert|key|write-out|range|limit-rate|config))$/;

function readCurl(words: readonly string[]): NetworkUse {
  const sends: number[] = [];
  const rest: string[] = [];
  let output: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (CURL_DATA_INSIDE.test(word)) sends.push(at);
    else if (CURL_DATA.test(word)) sends.push(++at);
    else if (/^(?:-[a-zA-Z]*o|--output)$/.test(word)) output = words[++at];
    else if (/^(?:-[a-zA-Z]*O|--remote-name)$/.test(word)) output = "";
    else if (CURL_VALUED.test(word)) at++;
    else if (!word.startsWith("-")) rest.push(word);
  }
  const address = rest.find((word) => ADDRESS.test(word)) ?? rest[0] ?? "";
  const file = output === "" ? lastSegment(address) : output;
  return { address, sends, isSending: sends.length > 0, output: file };
}

function readWget(words: readonly string[]): NetworkUse {
  const sends: number[] = [];
  let output: string | undefined;
  let address = "";
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const [, inside] = /^(?:-[a-zA-Z]*O|--output-document=)(.+)$/.exec(word) ?? [];
    if (/^--(?:post|body)-(?:data|file)=/.test(word)) sends.push(at);
    else if (/^--(?:post|body)-(?:data|file)$/.test(word)) sends.push(++at);
    else if (/^(?:-[a-zA-Z]*O|--output-document)$/.test(word)) output = words[++at];
    else if (inside !== undefined) output = inside;
    else if (!word.startsWith("-") && address === "") address = word;
  }
  return { address, sends, isSending: sends.length > 0, output: output ?? lastSegment(address) };
}

function readHttpie(words: readonly string[], input: Taints): NetworkUse {
  const address = words.find((word) => /[.:/]/.test(word)) ?? "";
  const isSending = input.size > 0 || words.some((word) => /^(?:POST|PUT|PATCH)$/.test(word));
  return { address, sends: words.map((_, at) => at), isSending };
}

function lastSegment(address: string): string {
  return /^[a-z]+:\/\/[^/]+\/(?:[^?#]*\/)?([^/?#]+)/i.exec(address)?.[1] ?? "index.html";
}

/** The taints of its output; `undefined` if it executes nothing. */
export function interpretScript(command: ReadCommand, walk: ShellWalk): Taints | undefined {
  const { program, words, name } = command;
  if (program === "eval") return runText(command, walk, words, "shell");
  if (/^(?:iex|Invoke-Expression)$/i.test(program)) {
    const all = uniteTaints(command.input, ...words.map(({ taints }) => taints));
    walk.record("run", command, all, { target: program });
    return NO_TAINTS;
  }
  if (program === "osascript") return runAppleScript(command, walk);
  if (program === "source" || program === ".") return runFile(command, walk, words[0]);
  const interpreter = interpreterOf(program);
  if (interpreter) return runInterpreter(command, walk, interpreter);
  const own = walk.fileTaints(name.value);
  if (hasTaint(own, "remote", "decoded")) walk.record("run", command, own, { target: name.value });
  return undefined;
}

function runInterpreter(command: ReadCommand, walk: ShellWalk, { language, code }: Interpreter): Taints {
  const { words, given, input, program } = command;
  const at = words.findIndex(({ value }) => code.test(value));
  const text = at === -1 ? undefined : words[at + 1];
  if (text !== undefined) {
    if (language === "powershell" && /^-e/i.test(words[at]?.value ?? "")) {
      // `-EncodedCommand` takes UTF-16 in base64.
      const content = Buffer.from(text.value, "base64").toString("utf16le").slice(0, 4096);
      walk.record("run", command, new Set(["decoded"]), { target: program, content });
      return input;
    }
    return runText(command, walk, language === "powershell" ? words.slice(at + 1) : [text], language);
  }
  const script = words.find(({ value }) => !/^[-+]/.test(value) || value === "-");
  const readsInput =
    script === undefined ||
    /^(?:-|\/dev\/stdin)$/.test(script.value) ||
    words.some(({ value }) => value === "-s");
  if (!readsInput) return runFile(command, walk, script) ?? NO_TAINTS;
  if (words.some(({ value }) => /^(?:-m|-V|--version|-h|--help|-v)/.test(value))) return input;
  if (given !== undefined) {
    walk.record("run", command, given.taints, { target: program, content: given.value });
    return uniteTaints(input, walk.follow(command, language, given.value));
  }
  if (input.size > 0) walk.record("run", command, input, { target: program });
  return input;
}

function runText(
  command: ReadCommand,
  walk: ShellWalk,
  words: readonly ShellWord[],
  language: Interpreter["language"],
): Taints {
  const taints = withoutTaint(uniteTaints(...words.map((word) => word.taints)), "secret-path");
  const content = words.map(({ value }) => value).join(" ");
  walk.record("run", command, taints, { target: command.program, content });
  return uniteTaints(command.input, taints, walk.follow(command, language, content));
}

/** The commands that it passes to a shell. */
function runAppleScript(command: ReadCommand, walk: ShellWalk): Taints {
  const code = [...command.words, command.given].map((word) => word?.value ?? "").join("\n");
  const commands = [...code.matchAll(/do shell script\s+"((?:[^"\\]|\\.)*)"/g)];
  const outputs = commands.map(([, text = ""]) =>
    walk.follow(command, "shell", text.replace(/\\(.)/g, "$1")),
  );
  return uniteTaints(...outputs);
}

function runFile(command: ReadCommand, walk: ShellWalk, file: ShellWord | undefined): Taints | undefined {
  if (file === undefined) return undefined;
  const taints = uniteTaints(walk.fileTaints(file.value), file.expands ? file.taints : NO_TAINTS);
  if (hasTaint(taints, "remote", "decoded")) walk.record("run", command, taints, { target: command.program });
  return command.input;
}
