/**
 * What a Python script says about itself in a comment, as PEP 723 has it: which Python and which packages it needs. Only
 * read here; the block is text of a skill, so its size is bounded and a wrong one is a message.
 */
import { showValue } from "../../validate/report.ts";

export interface InlineMetadata {
  /** As `>=3.11`. */
  readonly requiresPython?: string;
  /** As `requests<3`; none: any Python can run it. */
  readonly dependencies: readonly string[];
}

export type MetadataReading =
  /** No `metadata`: the script has none. */
  | { readonly ok: true; readonly metadata?: InlineMetadata }
  /** Begins in lower case. */
  | { readonly ok: false; readonly message: string };

const OPENING = "# /// script";
const CLOSING = "# ///";
const COMMENT = /^#(?: |$)/;
const MAX_BLOCK_LINES = 1000;
const MAX_DEPENDENCIES = 200;

export async function readInlineMetadata(text: string): Promise<MetadataReading> {
  const blocks = findBlocks(text);
  const [block] = blocks;
  if (block === undefined) return { ok: true };
  if (blocks.length > 1) return fail("it has more than one block `# /// script`; one is allowed");
  if (block.length > MAX_BLOCK_LINES) return fail(`it has more than ${MAX_BLOCK_LINES} lines`);
  const { parse, TomlError } = await import("smol-toml");
  try {
    return readFields(parse(block.map((line) => line.slice(2)).join("\n")));
  } catch (fault) {
    if (!(fault instanceof TomlError)) throw fault;
    const [first = ""] = fault.message.split("\n");
    return fail(`it is no TOML: ${first.replace(/^Invalid TOML document: /, "")}`);
  }
}

/** The comment lines of each block. Of several closing lines the last one counts; a block without one is none. */
function findBlocks(text: string): readonly (readonly string[])[] {
  const lines = text.split(/\r?\n/);
  const blocks: string[][] = [];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] !== OPENING) continue;
    let end = at + 1;
    let closing: number | undefined;
    for (; COMMENT.test(lines[end] ?? ""); end++) if (lines[end] === CLOSING) closing = end;
    if (closing !== undefined) blocks.push(lines.slice(at + 1, closing));
    at = closing ?? end - 1; // Without a closing line, what else opens in the same comment has none either.
  }
  return blocks;
}

function readFields(table: Readonly<Record<string, unknown>>): MetadataReading {
  const { dependencies = [], "requires-python": requiresPython } = table;
  if (!(Array.isArray(dependencies) && dependencies.every((entry) => typeof entry === "string")))
    return fail("`dependencies` must be a list of texts");
  if (dependencies.length > MAX_DEPENDENCIES) {
    return fail(
      `\`dependencies\` has ${dependencies.length} entries; at most ${MAX_DEPENDENCIES} are allowed`,
    );
  }
  if (requiresPython !== undefined && typeof requiresPython !== "string")
    return fail(`\`requires-python\` must be a text like \`">=3.11"\`, not ${showValue(requiresPython)}`);
  return { ok: true, metadata: { dependencies, ...(requiresPython !== undefined && { requiresPython }) } };
}

function fail(message: string): MetadataReading {
  return { ok: false, message };
}
