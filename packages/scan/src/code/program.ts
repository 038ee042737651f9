/**
 * Parses Python and JavaScript with their grammars into plain nodes of bounded size and depth, and defines one small
 * form for both: what is assigned, called, returned. Drops statements that only structure others (conditions, loops,
 * classes); the rest is enough to follow values through a file.
 */
import type { Parser, Tree } from "@lezer/common";
import { done, type Result, refused } from "@metier/base/result";
import type { ScanLimits } from "../scanned-skill.ts";
import { NO_TAINTS, type Taints, uniteTaints } from "./code-part.ts";

/** The name of a call that stands for reversed text; no real name has a space. */
export const REVERSED = "reversed text";

interface Located {
  readonly from: number;
  readonly to: number;
}

export interface Argument {
  /** For a keyword argument or a record entry. */
  readonly name?: string | undefined;
  readonly value: Expression;
}

export type Expression = Located &
  (
    | { readonly kind: "text"; readonly value: string }
    | { readonly kind: "name"; readonly name: string }
    /** `object.name` or `object["name"]`; `undefined` if the key is computed. */
    | {
        readonly kind: "member";
        readonly object: Expression;
        readonly name?: string | undefined;
        readonly key?: Expression | undefined;
      }
    | { readonly kind: "call"; readonly callee: Expression; readonly args: readonly Argument[] }
    /** Pieces of one string. */
    | { readonly kind: "joined"; readonly parts: readonly Expression[]; readonly separator: string }
    /** A list, a record. */
    | { readonly kind: "items"; readonly items: readonly Argument[] }
    | {
        readonly kind: "function";
        readonly parameters: readonly string[];
        readonly body: readonly Statement[];
      }
    /** Anything else that contains values. */
    | { readonly kind: "other"; readonly parts: readonly Expression[] }
  );

export type Statement = Located &
  (
    | {
        readonly kind: "assign";
        readonly targets: readonly Expression[];
        readonly value: Expression;
        /** It creates its own variables instead of changing outer ones. */
        readonly declares: boolean;
        /** The target keeps its old value: `+=`, an item of a list. */
        readonly adds: boolean;
      }
    | { readonly kind: "import"; readonly local: string; readonly full: string }
    | {
        readonly kind: "function";
        readonly name: string;
        readonly parameters: readonly string[];
        readonly body: readonly Statement[];
      }
    | { readonly kind: "return"; readonly value: Expression }
    | { readonly kind: "do"; readonly value: Expression }
  );

export interface LocalFunction {
  readonly parameters: readonly string[];
  readonly body: readonly Statement[];
  readonly scope: CodeScope;
  returns: Taints;
}

export interface Variable {
  taints: Taints;
  /** Its value, if it was assigned once. */
  value?: Expression;
  /** Where names in `value` are looked up. */
  valueScope?: CodeScope;
  /** Every assignment so far, by position: the file is processed more than once. */
  readonly assigned: Set<number>;
  /** The dotted name it was imported as. */
  full?: string;
  callable?: LocalFunction;
}

export class CodeScope {
  readonly #parent: CodeScope | undefined;
  readonly #variables = new Map<string, Variable>();

  constructor(parent?: CodeScope) {
    this.#parent = parent;
  }

  find(name: string): Variable | undefined {
    return this.#variables.get(name) ?? this.#parent?.find(name);
  }

  /** The variable of this scope, created if needed. */
  own(name: string): Variable {
    const known = this.#variables.get(name);
    if (known) return known;
    const made: Variable = { taints: NO_TAINTS, assigned: new Set() };
    this.#variables.set(name, made);
    return made;
  }
}

export function addTaints(variable: Variable, taints: Taints): void {
  variable.taints = uniteTaints(variable.taints, taints);
}

/** The argument of that name, otherwise the one at the position. */
export function argumentOf(
  args: readonly Argument[],
  position: number,
  ...names: readonly string[]
): Expression | undefined {
  const named = args.find(({ name }) => name !== undefined && names.includes(name));
  return (named ?? args.filter(({ name }) => name === undefined)[position])?.value;
}

export interface SyntaxNode {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly children: readonly SyntaxNode[];
}

/** Refused: the reason, without a period. */
type TreeOutcome = Result<SyntaxNode, string>;

type ParseTree = (text: string) => TreeOutcome;

export interface Parsers {
  readonly python: ParseTree;
  /** With types and JSX, which also accepts plain JavaScript. */
  readonly javascript: ParseTree;
}

/** Only a scan needs them, so they are loaded when one starts. Everything one scan parses shares `limits.steps`. */
export async function loadParsers(limits: ScanLimits): Promise<Parsers> {
  grammars ??= loadGrammars();
  const { python, javascript } = await grammars;
  const budget = { steps: limits.steps };
  return {
    python: (text) => parseWith(python, text, limits, budget),
    javascript: (text) => parseWith(javascript, text, limits, budget),
  };
}

let grammars: ReturnType<typeof loadGrammars> | undefined;

async function loadGrammars(): Promise<{ readonly python: Parser; readonly javascript: Parser }> {
  const [python, javascript] = await Promise.all([import("@lezer/python"), import("@lezer/javascript")]);
  return { python: python.parser, javascript: javascript.parser.configure({ dialect: "ts jsx" }) };
}

function parseWith(parser: Parser, text: string, limits: ScanLimits, budget: { steps: number }): TreeOutcome {
  if (text.length > limits.codeCharacters) {
    return refused(tooLong(text.length, limits.codeCharacters));
  }
  const parse = parser.startParse(text);
  for (; budget.steps > 0; budget.steps--) {
    const tree = parse.advance();
    if (tree) return copyTree(tree, limits);
  }
  return refused("parsing all of the skill's code takes too long");
}

interface OpenNode extends SyntaxNode {
  readonly children: SyntaxNode[];
}

/** In one pass, without recursion: the tree may be as deep as the text is long. */
function copyTree(tree: Tree, { nodes, depth }: ScanLimits): TreeOutcome {
  const cursor = tree.cursor();
  const open: OpenNode[] = [];
  let root: SyntaxNode | undefined;
  let count = 0;
  for (;;) {
    if (++count > nodes) return refused(`it has more than ${nodes} syntax nodes`);
    if (open.length > depth) return refused(`it is nested more than ${depth} levels deep`);
    const node: OpenNode = { name: cursor.name, from: cursor.from, to: cursor.to, children: [] };
    open.at(-1)?.children.push(node);
    root ??= node;
    if (cursor.firstChild()) {
      open.push(node);
      continue;
    }
    while (!cursor.nextSibling()) {
      if (!cursor.parent()) return done(root);
      open.pop();
    }
  }
}

/** Why a piece of code is not parsed. */
export function tooLong(length: number, most: number): string {
  return `it has ${length} characters; at most ${most} are parsed`;
}

/** With its prefix (`r`, `b`, `u`). */
export function unescapePython(literal: string): string {
  const [, prefix = "", quote = ""] = /^([a-z]*)('''|"""|'|")/i.exec(literal) ?? [];
  const inner = literal.slice(
    prefix.length + quote.length,
    literal.endsWith(quote) ? -quote.length : undefined,
  );
  return /r/i.test(prefix) ? inner : readEscapes(inner);
}

export function unescapeJavascript(literal: string): string {
  return readEscapes(literal.slice(1, /["'`]$/.test(literal) && literal.length > 1 ? -1 : undefined));
}

const SIMPLE: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  a: "\x07",
  "\n": "",
};
const ESCAPE =
  /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g;

function readEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(ESCAPE, (_, byte, short, braced, long, octal, plain: string | undefined) => {
    const hexadecimal: string | undefined = byte ?? short ?? braced ?? long;
    if (hexadecimal !== undefined) return codePoint(Number.parseInt(hexadecimal, 16));
    if (octal !== undefined) return codePoint(Number.parseInt(octal, 8));
    return SIMPLE[plain ?? ""] ?? plain ?? "";
  });
}

function codePoint(value: number): string {
  return value <= 0x10ffff ? String.fromCodePoint(value) : "";
}

/** What both languages share when a syntax tree becomes a program. */
export abstract class Lowering {
  readonly source: string;
  readonly isExpression: (node: SyntaxNode) => boolean;

  /** `expressions`: names of the nodes that have a value. */
  constructor(source: string, expressions: RegExp) {
    this.source = source;
    this.isExpression = ({ name }) => expressions.test(name);
  }

  abstract expression(node: SyntaxNode): Expression;

  text(node: SyntaxNode): string {
    return this.source.slice(node.from, node.to);
  }

  values(node: SyntaxNode): readonly SyntaxNode[] {
    return node.children.filter(this.isExpression);
  }

  doing(node: SyntaxNode): Statement {
    return { kind: "do", value: this.expression(node), ...spanOf(node) };
  }

  assign(
    at: SyntaxNode,
    targets: readonly Expression[],
    value: Expression,
    { declares = true, adds = false } = {},
  ): Statement {
    return { kind: "assign", targets, value, declares, adds, ...spanOf(at) };
  }

  joined(node: SyntaxNode, parts: readonly SyntaxNode[], separator = ""): Expression {
    const pieces = parts.map((part) => this.expression(part));
    return { kind: "joined", parts: pieces, separator, ...spanOf(node) };
  }

  list(nodes: readonly SyntaxNode[], whole: SyntaxNode): Expression {
    const items = nodes.map((value) => ({ value: this.expression(value) }));
    return { kind: "items", items, ...spanOf(whole) };
  }

  group(node: SyntaxNode): Expression {
    const parts = this.values(node).map((part) => this.expression(part));
    const [only] = parts;
    return parts.length === 1 && only ? only : { kind: "other", parts, ...spanOf(node) };
  }
}

export function spanOf({ from, to }: SyntaxNode): { readonly from: number; readonly to: number } {
  return { from, to };
}
