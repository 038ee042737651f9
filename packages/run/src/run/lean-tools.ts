/**
 * Tools for a small local model, which reads a long list slowly and chooses badly from it: only those that a skill or
 * chat needs, each with one sentence and a bare schema. Calls are still checked against the full schema.
 */
import type { Json, JsonSchema } from "@metier/base/json";
import { readToolName, TOOL_NAMES, type Tool } from "../tools/tool.ts";

/** The running skill; absent in a chat. */
interface LeanSkill {
  /** What the manifest allows and requires, as written. */
  readonly named: readonly string[];
  /** The text the model follows. */
  readonly instructions: string;
  /** Names of the other skills it could start. */
  readonly others: readonly string[];
}

/** For a skill that names no tools. `bash` also searches and edits. */
const USUAL = ["bash", "read_file", "write_file", "list_files", "web_fetch", "ask_user"];
/** Reading is always allowed, whatever a skill names. */
const READING = ["read_file", "list_files"];
/** A chat already has its skills in the prompt. */
const LEFT_OUT_IN_CHAT = ["list_skills", "grep_search"];

/** Those of the embedding program and of the skill itself always stay. */
export function chooseLeanTools(tools: readonly Tool[], skill?: LeanSkill): readonly Tool[] {
  const hasBash = tools.some(({ name }) => name === "bash");
  const isOurs = ({ name }: Tool): boolean => TOOL_NAMES.some((own) => own === name);
  const isNeeded = skill ? needOf(skill) : (name: string) => !LEFT_OUT_IN_CHAT.includes(name);
  // Without a shell, the file tools do its work.
  const isShellWork = (name: string): boolean => ["edit_file", "grep_search"].includes(name);
  return tools.filter((tool) => !isOurs(tool) || isNeeded(tool.name) || (!hasBash && isShellWork(tool.name)));
}

function needOf({ named, instructions, others }: LeanSkill): (name: string) => boolean {
  const wanted = named.map((entry) => readToolName(entry.replace(/\(.*$/s, "")).name);
  const isSaid = (words: readonly string[]): boolean => words.some((word) => instructions.includes(word));
  const startsOthers = isSaid(["use_skill", ...others.flatMap((name) => [`\`${name}\``, `/${name}`])]);
  return (name) => {
    if (wanted.includes(name) || isSaid([name])) return true;
    if (name === "use_skill") return startsOthers;
    if (name === "run_script") return isSaid(["scripts/"]);
    return (wanted.length === 0 ? USUAL : READING).includes(name);
  };
}

const MOST_DESCRIPTION = 200;

/** As the model sees it. */
export function leanTool({ description, inputSchema }: Pick<Tool, "description" | "inputSchema">): {
  readonly description: string;
  readonly inputSchema: JsonSchema;
} {
  const [first = ""] = /^.*?[.:](?=\s|$)/s.exec(description) ?? [description];
  return { description: first.slice(0, MOST_DESCRIPTION), inputSchema: bareSchema(inputSchema) };
}

/** What a schema contains besides types and names: a bare one costs a third. */
const TOLD = [
  "description",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "maxItems",
  "additionalProperties",
];

function bareSchema(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  const kept = Object.entries(schema).filter(([key]) => !TOLD.includes(key));
  const bare = Object.fromEntries(kept) as Record<string, Json>;
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return bare;
  bare.properties = Object.fromEntries(
    Object.entries(properties as Record<string, Json>).map(([name, of]) => [
      name,
      typeof of === "object" && of !== null && !Array.isArray(of) ? bareSchema(of as JsonSchema) : of,
    ]),
  );
  return bare;
}
