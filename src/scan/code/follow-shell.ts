/**
 * Follows data through a shell script and says what it does with it: along pipes, through variables, command
 * substitutions and files that are written and used later. Every branch is taken, in the order of the text.
 */
import type { AndOr, Command, CompoundList, ParsedScript, PipelineNode, Redirection, Statement } from "unbash";
import { type Act, type ActKind, UNKNOWN } from "./act.ts";
import { type CodeLanguage, type CodePart, partWithin } from "./code-part.ts";
import type { FollowWithin } from "./follow-program.ts";
import { interpretScript } from "./shell-interpreters.ts";
import { baseName, countWrappers, decodes, type NetworkUse, readCurl, readsFiles, readWget } from "./shell-programs.ts";
import { type KnownVariable, readParts, readShellWord, type ShellWord, type WordContext } from "./shell-words.ts";
import { hasTaint, NO_TAINTS, taint, type Taints, uniteTaints, withoutTaint } from "./taint.ts";

export interface FollowedShell {
  readonly acts: readonly Act[];
  /** The marks of what it prints. */
  readonly output: Taints;
}

export function followShell(script: ParsedScript, part: CodePart, within: FollowWithin): FollowedShell {
  const walk = new ShellWalk(part, within);
  const output = walk.list(script.commands, NO_TAINTS);
  return { acts: walk.acts, output };
}

/** A simple command, read. */
export interface ReadCommand {
  readonly program: string;
  /** Behind the program. */
  readonly words: readonly ShellWord[];
  readonly name: ShellWord;
  /** What comes in over pipes and redirections. */
  readonly input: Taints;
  /** Here-documents and here-strings. */
  readonly given?: ShellWord;
  readonly from: number;
  readonly to: number;
}

type Node = PipelineNode | AndOr | CompoundList;

const MOST_DEPTH = 100;

export class ShellWalk implements WordContext {
  readonly acts: Act[] = [];
  readonly part: CodePart;
  readonly #within: FollowWithin;
  readonly #variables = new Map<string, KnownVariable>();
  readonly #files = new Map<string, Taints>();
  #depth = 0;
  /** Where the whole pipeline stands, since that is what a reader has to see. */
  #pipeline: { readonly from: number; readonly to: number } | undefined;

  constructor(part: CodePart, within: FollowWithin) {
    this.part = part;
    this.#within = within;
  }

  list(statements: readonly Statement[], input: Taints): Taints {
    return uniteTaints(...statements.map(({ command }) => this.#node(command, input)));
  }

  variable(name: string): KnownVariable | undefined {
    return this.#variables.get(name);
  }

  output(script: ParsedScript | undefined): { readonly taints: Taints; readonly value?: string } {
    if (script === undefined) return { taints: NO_TAINTS };
    const before = this.#pipeline;
    const taints = this.list(script.commands, NO_TAINTS);
    this.#pipeline = before;
    const value = this.#echoed(script);
    return { taints, ...(value !== undefined && { value }) };
  }

  /** `$(echo text)` is the text. */
  #echoed({ commands: [only, ...others] }: ParsedScript): string | undefined {
    if (only?.command.type !== "Command" || others.length > 0) return undefined;
    const { name, args } = only.command;
    if (!/^(?:echo|printf)$/.test(name?.value ?? "")) return undefined;
    const words = args.flatMap((word) => (word.type === "Word" ? [readShellWord(word, this).value] : []));
    return words.filter((word) => !/^-[neE]+$/.test(word)).join(" ");
  }

  #node(node: Node, input: Taints): Taints {
    if (this.#depth >= MOST_DEPTH) return NO_TAINTS;
    this.#depth++;
    const output = this.#enter(node, input);
    this.#depth--;
    return output;
  }

  #enter(node: Node, input: Taints): Taints {
    switch (node.type) {
      case "Command":
        return this.#simple(node, input);
      case "Pipeline": {
        const outer = this.#pipeline;
        this.#pipeline ??= { from: node.pos, to: node.end };
        let flowing = input;
        for (const command of node.commands) flowing = this.#node(command, flowing);
        this.#pipeline = outer;
        return flowing;
      }
      case "AndOr":
        return uniteTaints(...node.commands.map((command) => this.#node(command, input)));
      case "CompoundList":
        return this.list(node.commands, input);
      case "Redirected": {
        const flowing = uniteTaints(input, this.#inputOf(node.redirects).taints);
        const output = this.#node(node.command, flowing);
        this.#redirectOutput(node.redirects, output, undefined);
        return output;
      }
      case "Subshell":
      case "BraceGroup":
        return this.list(node.body.commands, input);
      case "Function":
      case "Coproc":
        return this.#node(node.body, input);
      case "If": {
        const lists = [node.clause, node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then]), ...(node.else ? [node.else] : [])];
        return uniteTaints(...lists.map((list) => this.list(list.commands, input)));
      }
      case "While":
        return uniteTaints(this.list(node.clause.commands, input), this.#loop(node.body, input));
      case "For":
      case "Select": {
        const words = (node.wordlist ?? []).map((word) => readShellWord(word, this));
        const [only] = words;
        this.#set(node.name.value, words.length === 1 && only ? only.value : undefined, uniteTaints(...words.map(({ taints }) => taints)));
        return this.#loop(node.body, input);
      }
      case "ArithmeticFor":
        return this.#loop(node.body, input);
      case "Case":
        return uniteTaints(...node.items.map(({ body }) => this.list(body.commands, input)));
      default:
        return NO_TAINTS; // Tests and arithmetic.
    }
  }

  /** What is read in a loop comes from its input: `while read line`. */
  #loop(body: CompoundList, input: Taints): Taints {
    return this.list(body.commands, input);
  }

  #set(name: string, value: string | undefined, taints: Taints): void {
    const known = this.#variables.get(name);
    // Assigned again, in a branch perhaps: then only the marks are sure.
    const isSure = value !== undefined && !value.includes(UNKNOWN) && (known === undefined || known.value === value);
    this.#variables.set(name, { taints: uniteTaints(taints, known?.taints ?? NO_TAINTS), ...(isSure ? { value } : {}) });
  }

  #simple(node: Command, input: Taints): Taints {
    for (const assignment of node.prefix) if (assignment.type === "Assignment") this.#assign(assignment);
    const all = node.args.flatMap((word) => {
      if (word.type === "Word") return [readShellWord(word, this)];
      this.#assign(word); // `export NAME=value`
      return [];
    });
    const { taints, given } = this.#inputOf(node.redirects);
    const flowing = uniteTaints(input, taints);
    const name = node.name && readShellWord(node.name, this);
    if (name === undefined) {
      this.#redirectOutput(node.redirects, flowing, undefined);
      return flowing;
    }
    const line = [name, ...all];
    const start = countWrappers(line.map(({ value }) => value));
    const isXargs = line.slice(0, start).some(({ value }) => /^(?:xargs|parallel)$/.test(baseName(value)));
    const program = line[start] ?? name;
    const command: ReadCommand = {
      program: baseName(program.value),
      name: program,
      words: line.slice(start + 1),
      input: flowing,
      ...(given && { given }),
      ...(this.#pipeline ?? { from: node.pos, to: node.end }),
    };
    const output = this.#command(command, isXargs);
    this.#redirectOutput(node.redirects, output, command);
    return output;
  }

  #assign(assignment: Command["prefix"][number]): void {
    if (assignment.type !== "Assignment") return;
    const { name, value } = assignment;
    const words = value.type === "Word" ? [value] : value.elements;
    const read = words.map((word) => readShellWord(word, this));
    this.#set(name, value.type === "Word" ? (read[0]?.value ?? "") : undefined, uniteTaints(...read.map(({ taints }) => taints)));
  }

  #inputOf(redirects: readonly Redirection[]): { readonly taints: Taints; readonly given?: ShellWord } {
    let taints = NO_TAINTS;
    let given: ShellWord | undefined;
    for (const redirect of redirects) {
      if (redirect.type === "HereDoc") given = readParts(redirect.body.parts, redirect.body.text, this);
      else if (redirect.target === undefined) continue;
      else if (redirect.type === "HereString") given = readShellWord(redirect.target, this);
      else if (redirect.operator === "<") taints = uniteTaints(taints, this.#readFile(readShellWord(redirect.target, this), redirect));
    }
    return { taints: uniteTaints(taints, given?.taints ?? NO_TAINTS), ...(given && { given }) };
  }

  #readFile(word: ShellWord, { pos, end }: { readonly pos: number; readonly end: number }): Taints {
    if (!hasTaint(word.taints, "secret-path")) return uniteTaints(word.taints, this.fileTaints(word.value));
    const span = this.#pipeline ?? { from: pos, to: end };
    this.record("read", span, taint("secret", word.value), { target: word.value });
    return taint("secret", word.value);
  }

  fileTaints(path: string): Taints {
    return this.#files.get(path.replace(/^\.\//, "")) ?? NO_TAINTS;
  }

  markFile(path: string, taints: Taints): void {
    if (taints.size > 0 && path !== "" && path !== "-") this.#files.set(path.replace(/^\.\//, ""), uniteTaints(this.fileTaints(path), taints));
  }

  #redirectOutput(redirects: readonly Redirection[], output: Taints, command: ReadCommand | undefined): void {
    for (const redirect of redirects) {
      if (redirect.type !== "Redirect" || redirect.target === undefined || !/>/.test(redirect.operator)) continue;
      const { value } = readShellWord(redirect.target, this);
      const span = command ?? { from: redirect.pos, to: redirect.end };
      if (/^\/dev\/(?:tcp|udp)\//.test(value)) this.record("send", span, output, { target: value });
      else if (!/^(?:\/dev\/(?:null|stdout|stderr|stdin)|\d+|-|&\d)$/.test(value)) {
        const content = command && [...command.words.map((word) => word.value), command.given?.value ?? ""].join(" ");
        this.record("write", span, output, { target: value, ...(content !== undefined && { content }) });
        this.markFile(value, output);
      }
    }
  }

  #command(command: ReadCommand, isXargs: boolean): Taints {
    const { program, words, input, name } = command;
    const wordTaints = uniteTaints(...words.map(({ taints }) => taints));
    this.record("command", command, uniteTaints(wordTaints, input), {
      words: [program, ...words.map(({ value }) => value)],
      isHidden: name.isHidden || (name.expands && /^(?:curl|wget|bash|sh|eval|nc|python\d?|base64|rm)$/.test(program)),
    });
    const piped = isXargs ? { ...command, words: [...words, inputWord(input)] } : command;
    return this.#network(piped) ?? interpretScript(piped, this) ?? this.#tool(piped, wordTaints);
  }

  #network(command: ReadCommand): Taints | undefined {
    const { program, words, input } = command;
    const values = words.map(({ value }) => value);
    if (/^(?:curl|curlie)$/.test(program)) return this.#transfer(command, readCurl(values));
    if (program === "wget") return this.#transfer(command, readWget(values));
    if (/^(?:http|https|xh|httpie)$/.test(program)) {
      const address = values.find((value) => /[.:/]/.test(value)) ?? "";
      const isSending = values.some((value) => /^(?:POST|PUT|PATCH)$/.test(value)) || input.size > 0;
      return this.#transfer(command, { address, sends: values.map((_, at) => at), isSending });
    }
    if (/^(?:nc|ncat|netcat|socat|telnet|ftp|sftp|tftp|scp|rsync|rclone|sendmail|mail|mailx|mutt|websocat|s3cmd|gsutil)$/.test(program)) {
      const sent = uniteTaints(input, ...words.map((word) => this.#readWord(word, command)));
      this.record("send", command, sent, { target: values.join(" ") });
      return /^(?:nc|ncat|netcat|socat|telnet|websocat)$/.test(program) ? taint("remote", values.join(" ")) : NO_TAINTS;
    }
    if (/^(?:dig|nslookup|host|drill|ping|getent)$/.test(program)) {
      const name = words.find(({ expands, value }) => expands && value.includes("."));
      if (name) this.record("look-up", command, name.taints, { target: name.value });
      return uniteTaints(...words.map(({ taints }) => withoutTaint(taints, "secret-path")));
    }
    return undefined;
  }

  #transfer(command: ReadCommand, { address, sends, isSending, output }: NetworkUse): Taints {
    const { words, input } = command;
    const isFromInput = sends.some((at) => /@-|^-$|=@-/.test(words[at]?.value ?? "")) || sends.length === 0;
    const sent = uniteTaints(
      isFromInput ? input : NO_TAINTS,
      ...words.map((word, at) => {
        if (sends.includes(at)) return this.#readWord(word, command);
        // A credential in a header, or for signing in, is how services are used.
        return word.value === address ? word.taints : withoutTaint(word.taints, "variable", "secret-path");
      }),
    );
    this.record("fetch", command, NO_TAINTS, { target: address });
    if (isSending || hasTaint(sent, "secret", "environment", "variable")) this.record("send", command, sent, { target: address });
    const remote = taint("remote", address);
    if (output === undefined || output === "-" || output === "/dev/stdout") return remote;
    this.markFile(output, remote);
    return NO_TAINTS;
  }

  /** The content of a file that is named, or the word itself. */
  #readWord(word: ShellWord, command: ReadCommand): Taints {
    const path = word.value.replace(/^[\w-]*=?@/, "");
    const known = this.fileTaints(path);
    if (!hasTaint(word.taints, "secret-path")) return uniteTaints(withoutTaint(word.taints, "secret-path"), known);
    const taints = taint("secret", path);
    this.record("read", command, taints, { target: path });
    return uniteTaints(taints, withoutTaint(word.taints, "secret-path"), known);
  }

  #tool(command: ReadCommand, wordTaints: Taints): Taints {
    const { program, words, input } = command;
    const values = words.map(({ value }) => value);
    if (/^(?:env|printenv|set|export|declare|typeset)$/.test(program) && values.every((value) => /^-[px0]+$/.test(value))) return taint("environment");
    if (/^(?:Get-ChildItem|gci|dir)$/i.test(program) && values.some((value) => /^env:/i.test(value))) return taint("environment");
    if (program === "read") {
      for (const value of values) if (/^\w+$/.test(value)) this.#set(value, undefined, input);
      return NO_TAINTS;
    }
    if (/^(?:rm|rmdir|unlink|shred|srm|del|Remove-Item)$/i.test(program)) {
      this.record("delete", command, NO_TAINTS, { words: [program, ...values], target: values.filter((value) => !value.startsWith("-")).join(" ") });
      return NO_TAINTS;
    }
    this.#writes(command, uniteTaints(input, withoutTaint(wordTaints, "secret-path")));
    if (/^(?:echo|printf)$/.test(program)) return withoutTaint(wordTaints, "secret-path");
    const read = readsFiles(program) ? words.map((word) => this.#readWord(word, command)) : words.map((word) => withoutTaint(word.taints, "secret-path"));
    const decoded = decodes(program, values) ? taint("decoded") : NO_TAINTS;
    const output = uniteTaints(input, decoded, ...read);
    if (/^(?:tar|zip|7z|rar|gzip|cp|mv|openssl|dd|split)$/.test(program)) for (const value of values) if (!value.startsWith("-")) this.markFile(value.replace(/^of=/, ""), output);
    return output;
  }

  /** Programs that write to the files they name. */
  #writes(command: ReadCommand, taints: Taints): void {
    const { program, words, given } = command;
    const files = words.filter(({ value }) => !value.startsWith("-"));
    const last = files.at(-1);
    const targets = program === "tee" ? files : /^(?:cp|mv|ln|install)$/.test(program) && files.length > 1 && last ? [last] : program === "sed" && words.some(({ value }) => /^-[a-zA-Z]*i|^--in-place/.test(value)) && last ? [last] : [];
    for (const { value } of targets) {
      this.record("write", command, uniteTaints(taints, given?.taints ?? NO_TAINTS), { target: value, content: given?.value ?? "" });
      this.markFile(value, taints);
    }
  }

  /** Code within this code; answers the marks of what it prints. */
  follow(command: ReadCommand, language: CodeLanguage, text: string): Taints {
    return this.#within(partWithin(this.part, command.from, language, text));
  }

  record(kind: ActKind, { from, to }: { readonly from: number; readonly to: number }, taints: Taints, more: Partial<Act>): void {
    if (this.part.isTrial) return;
    this.acts.push({ kind, part: this.part, at: from, seen: this.part.text.slice(from, Math.min(to, from + 400)), taints, ...more });
  }
}

/** What `xargs` puts behind the words. */
function inputWord(taints: Taints): ShellWord {
  return { written: "", value: UNKNOWN, taints, isHidden: false, expands: true, variables: [] };
}
