/**
 * Follows data through a shell script: along pipes, through variables, command substitutions, and files that are
 * written and used later. Takes every branch, in text order.
 */
import type {
  AndOr,
  Command,
  CompoundList,
  ParsedScript,
  PipelineNode,
  Redirection,
  Statement,
} from "unbash";
import {
  type Act,
  type ActKind,
  type CodeLanguage,
  type CodePart,
  hasTaint,
  NO_TAINTS,
  partWithin,
  type Taints,
  taint,
  UNKNOWN,
  uniteTaints,
} from "./code-part.ts";
import type { FollowWithin } from "./follow-program.ts";
import { interpretScript, useNetwork } from "./shell-network.ts";
import { baseName, countWrappers, useTool } from "./shell-programs.ts";
import {
  type KnownVariable,
  readParts,
  readShellWord,
  type ShellWord,
  type WordContext,
} from "./shell-words.ts";

/** `output`: the taints of its output. */
export function followShell(
  script: ParsedScript,
  part: CodePart,
  within: FollowWithin,
): { readonly acts: readonly Act[]; readonly output: Taints } {
  const walk = new ShellWalk(part, within);
  const output = walk.list(script.commands, NO_TAINTS);
  return { acts: walk.acts, output };
}

/** A parsed simple command. */
export interface ReadCommand {
  readonly program: string;
  /** The words after the program. */
  readonly words: readonly ShellWord[];
  readonly name: ShellWord;
  /** Input from pipes and redirections. */
  readonly input: Taints;
  /** Here-documents and here-strings. */
  readonly given?: ShellWord | undefined;
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
  /** Where the whole pipeline is, since a reader must see that. */
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

  output(script: ParsedScript | undefined): { readonly taints: Taints; readonly value?: string | undefined } {
    if (script === undefined) return { taints: NO_TAINTS };
    const before = this.#pipeline;
    const taints = this.list(script.commands, NO_TAINTS);
    this.#pipeline = before;
    const value = this.#echoed(script);
    return { taints, value };
  }

  /** `$(echo text)` is the text. */
  #echoed({ commands: [only, ...others] }: ParsedScript): string | undefined {
    if (only?.command.type !== "Command" || others.length > 0) return undefined;
    const { name, args } = only.command;
    if (!/^(?:echo|printf)$/.test(name?.value ?? "")) return undefined;
    const words = args.flatMap((word) => (word.type === "Word" ? [readShellWord(word, this).value] : []));
    const printed = words.filter((word) => !/^-[neE]+$/.test(word)).join(" ");
    return printed.replace(/\\x([0-9a-fA-F]{2})|\\0?([0-7]{3})/g, (_, byte?: string, octal?: string) =>
      String.fromCharCode(byte === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(byte, 16)),
    );
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
      case "ArithmeticFor":
        return this.list(node.body.commands, input);
      case "Function":
      case "Coproc":
        return this.#node(node.body, input);
      case "If": {
        const lists = [
          node.clause,
          node.then,
          ...node.elif.flatMap(({ clause, then }) => [clause, then]),
          ...(node.else ? [node.else] : []),
        ];
        return uniteTaints(...lists.map((list) => this.list(list.commands, input)));
      }
      case "While": // What it reads comes from its input: `while read line`.
        return uniteTaints(this.list(node.clause.commands, input), this.list(node.body.commands, input));
      case "For":
      case "Select": {
        const words = (node.wordlist ?? []).map((word) => readShellWord(word, this));
        const [only] = words;
        this.set(
          node.name.value,
          words.length === 1 && only ? only.value : undefined,
          uniteTaints(...words.map(({ taints }) => taints)),
        );
        return this.list(node.body.commands, input);
      }
      case "Case":
        return uniteTaints(...node.items.map(({ body }) => this.list(body.commands, input)));
      default:
        return NO_TAINTS; // Tests and arithmetic.
    }
  }

  set(name: string, value: string | undefined, taints: Taints): void {
    const known = this.#variables.get(name);
    // Assigned again, perhaps in a branch: then only the taints are certain.
    const isSure =
      value !== undefined && !value.includes(UNKNOWN) && (known === undefined || known.value === value);
    this.#variables.set(name, {
      taints: uniteTaints(taints, known?.taints ?? NO_TAINTS),
      value: isSure ? value : undefined,
    });
  }

  #simple(node: Command, input: Taints): Taints {
    for (const assignment of node.prefix) this.#assign(assignment);
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
      given,
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
    this.set(
      name,
      value.type === "Word" ? (read[0]?.value ?? "") : undefined,
      uniteTaints(...read.map(({ taints }) => taints)),
    );
  }

  #inputOf(redirects: readonly Redirection[]): {
    readonly taints: Taints;
    readonly given: ShellWord | undefined;
  } {
    let taints = NO_TAINTS;
    let given: ShellWord | undefined;
    for (const redirect of redirects) {
      if (redirect.type === "HereDoc") given = readParts(redirect.body.parts, redirect.body.text, this);
      else if (redirect.target === undefined) continue;
      else if (redirect.type === "HereString") given = readShellWord(redirect.target, this);
      else if (redirect.operator === "<")
        taints = uniteTaints(taints, this.#readFile(readShellWord(redirect.target, this), redirect));
    }
    return { taints: uniteTaints(taints, given?.taints ?? NO_TAINTS), given };
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
    if (taints.size > 0 && path !== "" && path !== "-")
      this.#files.set(path.replace(/^\.\//, ""), uniteTaints(this.fileTaints(path), taints));
  }

  #redirectOutput(redirects: readonly Redirection[], output: Taints, command: ReadCommand | undefined): void {
    for (const redirect of redirects) {
      if (redirect.type !== "Redirect" || redirect.target === undefined || !/>/.test(redirect.operator))
        continue;
      const { value } = readShellWord(redirect.target, this);
      const span = command ?? { from: redirect.pos, to: redirect.end };
      if (/^\/dev\/(?:tcp|udp)\//.test(value)) this.record("send", span, output, { target: value });
      else if (!/^(?:\/dev\/(?:null|stdout|stderr|stdin)|\d+|-|&\d)$/.test(value)) {
        const content =
          command && [...command.words.map((word) => word.value), command.given?.value ?? ""].join(" ");
        this.record("write", span, output, { target: value, content });
        this.markFile(value, output);
      }
    }
  }

  #command(command: ReadCommand, isXargs: boolean): Taints {
    const { program, words, input, name } = command;
    this.record("command", command, uniteTaints(input, ...words.map(({ taints }) => taints)), {
      words: [program, ...words.map(({ value }) => value)],
      isHidden: name.isHidden,
    });
    // What `xargs` appends to the words.
    const read: ShellWord = { value: UNKNOWN, taints: input, isHidden: false, expands: true };
    const piped = isXargs ? { ...command, words: [...words, read] } : command;
    return useNetwork(piped, this) ?? interpretScript(piped, this) ?? useTool(piped, this);
  }

  /** Code within this code; returns the taints of its output. */
  follow(command: ReadCommand, language: CodeLanguage, text: string): Taints {
    return this.#within(partWithin(this.part, command.from, language, text));
  }

  record(
    kind: ActKind,
    { from, to }: { readonly from: number; readonly to: number },
    taints: Taints,
    more: Partial<Act>,
  ): void {
    if (this.part.isTrial) return;
    this.acts.push({
      kind,
      part: this.part,
      at: from,
      seen: this.part.text.slice(from, Math.min(to, from + 400)),
      taints,
      ...more,
    });
  }
}
