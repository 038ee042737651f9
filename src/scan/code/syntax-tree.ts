/** Python and JavaScript through their grammars, as plain nodes. Bounded: a text that is too large or too deep says so. */
import type { Parser, Tree } from "@lezer/common";
import type { ScanLimits } from "../scan-limits.ts";

export interface SyntaxNode {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly children: readonly SyntaxNode[];
}

export type TreeOutcome =
  | { readonly ok: true; readonly root: SyntaxNode }
  | { readonly ok: false; readonly reason: string };

type ParseTree = (text: string) => TreeOutcome;

export interface Parsers {
  readonly python: ParseTree;
  /** With types and JSX, which plain JavaScript does not mind. */
  readonly javascript: ParseTree;
}

/** Only a scan needs them, so they are loaded when one begins. All that one scan parses has to do with `limits.steps`. */
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
    return tooMuch(tooLong(text.length, limits.codeCharacters));
  }
  const parse = parser.startParse(text);
  for (; budget.steps > 0; budget.steps--) {
    const tree = parse.advance();
    if (tree) return copyTree(tree, limits);
  }
  return tooMuch("parsing all the code of the skill takes too long");
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
    if (++count > nodes) return tooMuch(`it has more than ${nodes} parts`);
    if (open.length > depth) return tooMuch(`it is nested more than ${depth} deep`);
    const node: OpenNode = { name: cursor.name, from: cursor.from, to: cursor.to, children: [] };
    open.at(-1)?.children.push(node);
    root ??= node;
    if (cursor.firstChild()) {
      open.push(node);
      continue;
    }
    while (!cursor.nextSibling()) {
      if (!cursor.parent()) return { ok: true, root };
      open.pop();
    }
  }
}

/** Why a piece of code is not parsed. */
export function tooLong(length: number, most: number): string {
  return `it has ${length} characters, and at most ${most} are parsed`;
}

function tooMuch(reason: string): TreeOutcome {
  return { ok: false, reason };
}
