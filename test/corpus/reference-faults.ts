/**
 * What the reference validator of the specification is known to get wrong, by kind. Whether a kind applies is seen
 * in the file itself, never by its name. Where none applies, `strict` must give the same verdict.
 */
import type { DiagnosticCode } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import { parseDocument, visit } from "yaml";
import type { CorpusFile } from "./corpus-files.ts";

export interface RefusedWrongly {
  readonly why: string;
  applies(file: CorpusFile): boolean;
}

export interface AcceptedWrongly extends RefusedWrongly {
  /** What `strict` may report in such a file that the reference lets pass. */
  readonly codes: readonly DiagnosticCode[];
}

/** It looks for `---` anywhere, so that it cuts a value in two. */
const CUTS_INSIDE_VALUES: RefusedWrongly = {
  why: "`---` inside a value ends the frontmatter there",
  applies: ({ text }) => {
    const cut = text.indexOf("---", 3);
    return cut > 0 && text[cut - 1] !== "\n";
  },
};

/** Files that the reference refuses although they keep to the specification. */
export const REFUSED_WRONGLY: readonly RefusedWrongly[] = [
  CUTS_INSIDE_VALUES,
  { why: "a byte order mark", applies: ({ text }) => text.startsWith("\uFEFF") },
  { why: "flow style, which is YAML", applies: ({ yaml }) => hasNode(yaml, (node) => node.flow === true) },
  {
    why: "anchors and tags, which are YAML",
    applies: ({ yaml }) => hasNode(yaml, (node) => Boolean(node.anchor || node.tag)),
  },
  { why: "it crashed", applies: ({ verdict }) => typeof verdict === "string" && verdict.startsWith("CRASH") },
];

/** Files that the reference accepts although they do not keep to the specification, or to YAML. */
export const ACCEPTED_WRONGLY: readonly AcceptedWrongly[] = [
  { ...CUTS_INSIDE_VALUES, codes: ["yaml.repaired", "yaml.dropped"] },
  {
    why: "it does not check the types of `metadata` and `license`",
    codes: ["field.wrong-type", "field.structure-for-text"],
    applies: ({ parsed: { frontmatter = {} } }) => {
      const { metadata = {}, license = "" } = frontmatter;
      return isStructure(license) || !isMap(metadata);
    },
  },
  {
    why: "it accepts an empty `compatibility`, which has at least one character",
    codes: ["compatibility.empty"],
    applies: ({ parsed: { frontmatter = {} } }) =>
      frontmatter.compatibility === "" || frontmatter.compatibility === null,
  },
  {
    why: "its YAML is older: a value in quotes may go on at the left edge",
    codes: ["yaml.repaired"],
    applies: ({ yaml }) => /^[\w-]+: *(["'])(?:(?!\1).)*\n\S/m.test(yaml),
  },
];

interface NodeFacts {
  readonly flow?: boolean | undefined;
  readonly anchor?: string | undefined;
  readonly tag?: string | undefined;
}

function hasNode(yaml: string, test: (node: NodeFacts) => boolean): boolean {
  let found = false;
  visit(parseDocument(yaml, { logLevel: "silent" }), {
    Node: (_, node) => {
      found ||= test(node as NodeFacts);
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

function isStructure(value: Json): boolean {
  return typeof value === "object" && value !== null;
}

function isMap(value: Json): boolean {
  return value === null || (isStructure(value) && !Array.isArray(value));
}
