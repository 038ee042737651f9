/** The YAML form keeps its body under the key `instructions`: takes it out of the data, with its place in the file. */
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { locateKey } from "./locate-key.ts";
import type { SplitFile } from "./split-frontmatter.ts";
import { countLineEnds } from "./text-position.ts";

export interface SkillContent {
  readonly frontmatter: Readonly<Record<string, Json>>;
  readonly body: string;
  readonly bodyLine: number;
  readonly faults: readonly Fault[];
}

/** Without the key, what stands below a second `---` is the body. */
export function takeInstructions(data: Readonly<Record<string, Json>>, split: SplitFile): SkillContent {
  if (!Object.hasOwn(data, "instructions")) {
    return { frontmatter: data, body: split.body, bodyLine: split.bodyLine, faults: [] };
  }
  const { instructions = null, ...frontmatter } = data;
  const { yaml = "", yamlLine } = split;
  const keyLine = locateKey(yaml, yamlLine, "instructions")?.line ?? yamlLine;
  const faults = split.body === "" ? [] : [secondBody(split.bodyLine)];
  if (instructions !== null && typeof instructions !== "string") {
    return { frontmatter, body: "", bodyLine: keyLine, faults: [notText(keyLine), ...faults] };
  }
  const text = instructions ?? "";
  const first = Math.max(text.search(/\S/), 0);
  const body = text.slice(text.lastIndexOf("\n", first) + 1).trimEnd();
  const isBlock = /:[ \t]*[|>]/.test(yaml.split("\n")[keyLine - yamlLine] ?? "");
  const bodyLine = keyLine + (isBlock ? 1 : 0) + countLineEnds(text, 0, first);
  return { frontmatter, body, bodyLine, faults };
}

function notText(line: number): Fault {
  return {
    code: "instructions.not-text",
    severity: "error",
    message: "`instructions` is not text; the skill has no instructions.",
    line,
    hint: "Write `instructions: |` and the text below it, indented.",
  };
}

function secondBody(line: number): Fault {
  return {
    code: "yaml.dropped",
    severity: "warning",
    message: "The text below `---` was left out: `instructions` is the body already.",
    line,
    hint: "Keep the instructions in one place.",
  };
}
