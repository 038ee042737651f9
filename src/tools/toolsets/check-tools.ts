/** What toolsets say their tools are, held to what a run relies on. A tool that cannot be offered is named, with the reason. */
import { cleanText } from "../../disclose/clean-text.ts";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import type { DescribedTool, LoadedModule } from "../../sandbox/inside/toolset-protocol.ts";
import { checkJson, type JsonSchema } from "../../validate/json-schema.ts";
import { showValue } from "../../validate/report.ts";

/** A tool that can be called. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  /** The place of its toolset among those of the skill. */
  readonly toolset: number;
}

export interface CheckedTools {
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly diagnostics: readonly Diagnostic[];
}

/** What providers take, together with the name of a skill. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const MAX_TOOLS = 64;
const TOO_MANY = `a skill has at most ${MAX_TOOLS} tools of its own`;
const MAX_DESCRIPTION = 4000;

/** `entries`: how the skill names each of the toolsets. `path`: its file, for diagnostics. */
export async function checkTools(
  toolsets: readonly LoadedModule[],
  { entries, path }: { readonly entries: readonly string[]; readonly path: string },
): Promise<CheckedTools> {
  const tools = new Map<string, OfferedTool>();
  const diagnostics: Diagnostic[] = [];
  for (const [place, toolset] of toolsets.entries()) {
    const entry = entries[place] ?? "";
    if ("fault" in toolset) {
      diagnostics.push(notLoaded([entry], `${toolset.fault}.`, path));
      continue;
    }
    const title = toolset.name === undefined ? "" : `${showValue(toolset.name)}, `;
    const owner = `of the toolset ${title}${showValue(entry)}`;
    const beyond = toolset.tools.length - MAX_TOOLS;
    if (beyond > 0) diagnostics.push(tooMany(owner, beyond, path));
    for (const described of toolset.tools.slice(0, MAX_TOOLS)) {
      const { tool, removed } = cleanDescribed(described);
      if (removed) diagnostics.push(textRemoved(tool.name, owner, removed, path));
      const checked = await checkTool(tool, place, tools);
      if (typeof checked === "string") diagnostics.push(leftOut(tool.name, owner, checked, path));
      else tools.set(checked.name, checked);
    }
  }
  return { tools, diagnostics };
}

/** The tool, or what is wrong with it. */
async function checkTool(
  { name, description, input, output, runs }: DescribedTool,
  toolset: number,
  others: ReadonlyMap<string, OfferedTool>,
): Promise<OfferedTool | string> {
  if (!NAME.test(name))
    return "a name is a letter, then letters, digits, `_` and `-`, at most 64 characters together";
  if (others.has(name)) return "another toolset of the skill has a tool of that name";
  if (others.size >= MAX_TOOLS) return TOO_MANY;
  if (!runs) return "it has no function `run`";
  if (typeof description !== "string" || description.trim() === "")
    return "it has no `description`, by which a model could choose it";
  if (description.length > MAX_DESCRIPTION)
    return `its \`description\` has ${description.length} characters; at most ${MAX_DESCRIPTION} are allowed`;
  if (!isSchema(input) || input.type !== "object")
    return '`input` is no JSON Schema of an object: `{ type: "object", … }`';
  const wrongInput = await faultOf(input);
  if (wrongInput !== undefined) return `\`input\` cannot be used: ${wrongInput}`;
  if (output === undefined) return { name, description, input, toolset };
  if (!isSchema(output)) return "`output` is no JSON Schema";
  const wrongOutput = await faultOf(output);
  if (wrongOutput !== undefined) return `\`output\` cannot be used: ${wrongOutput}`;
  return { name, description, input, output, toolset };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function faultOf(schema: JsonSchema): Promise<string | undefined> {
  const checked = await checkJson(schema, {});
  return !checked.ok && checked.isSchemaFault ? checked.message : undefined;
}

type Removed = ReturnType<typeof cleanText>["removed"];

/** Description and schemas go to the model as they are, so what nobody sees is taken out of all of them. */
function cleanDescribed(tool: DescribedTool): { readonly tool: DescribedTool; readonly removed: Removed } {
  const { text, removed } = cleanText(JSON.stringify(tool));
  return { tool: removed ? (JSON.parse(text) as DescribedTool) : tool, removed };
}

export function notLoaded(entries: readonly string[], reason: string, path: string): Diagnostic {
  const which = entries.map(showValue).join(", ");
  return {
    code: "toolset.not-loaded",
    severity: "warning",
    path,
    message: `The run goes on without the tools of ${which}: ${reason}`,
    hint: "Mend the toolset, or take it out of `toolsets`.",
  };
}

function tooMany(owner: string, beyond: number, path: string): Diagnostic {
  return {
    code: "toolset.tool-left-out",
    severity: "warning",
    path,
    message: `${beyond} tools ${owner} are left out: ${TOO_MANY}.`,
    hint: "Offer fewer tools; a model chooses better among a few.",
  };
}

export function leftOut(name: string, owner: string, reason: string, path: string): Diagnostic {
  return {
    code: "toolset.tool-left-out",
    severity: "warning",
    path,
    message: `The tool ${showValue(name)} ${owner} is left out: ${reason}.`,
    hint: "Change it in the toolset.",
  };
}

function textRemoved(
  name: string,
  owner: string,
  { count, example }: NonNullable<Removed>,
  path: string,
): Diagnostic {
  return {
    code: "disclosure.text-removed",
    severity: "warning",
    path,
    message: `Characters that cannot be seen were removed from the tool ${showValue(name)} ${owner}: ${count}, ${example} first.`,
  };
}
