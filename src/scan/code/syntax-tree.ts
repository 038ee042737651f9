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

/** Steps of the parser for each character: many times what real code needs, so that only an attack is stopped. */
const STEPS_PER_CHARACTER = 20;

type ParseTree = (text: string, limits: ScanLimits) => TreeOutcome;

export interface Parsers {
  readonly python: ParseTree;
  /** With types and JSX, which plain JavaScript does not mind. */
  readonly javascript: ParseTree;
}

/** Only a scan needs them, so they are loaded when one begins. */
export async function loadParsers(): Promise<Parsers> {
  const [python, javascript] = await Promise.all([import("@lezer/python"), import("@lezer/javascript")]);
  const typed = javascript.parser.configure({ dialect: "ts jsx" });
  return {
    python: (text, limits) => parseWith(python.parser, text, limits),
    javascript: (text, limits) => parseWith(typed, text, limits),
  };
}

function parseWith(parser: Parser, text: string, limits: ScanLimits): TreeOutcome {
  const parse = parser.startParse(text);
  let tree: Tree | null = null;
  for (let steps = 0; tree === null; steps++) {
    if (steps > 10_000 + STEPS_PER_CHARACTER * text.length)
      return tooMuch("its grammar has too many readings");
    tree = parse.advance();
  }
  return copyTree(tree, limits);
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

function tooMuch(reason: string): TreeOutcome {
  return { ok: false, reason };
}
