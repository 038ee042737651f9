/**
 * A skill's toolsets as tools of its run. Their code runs in a separate process inside the run's sandbox, never here;
 * what can't be loaded or offered is a diagnostic, and the run continues without it.
 */
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "@metier/base/diagnostic";
import { checkJson, type Json, type JsonSchema } from "@metier/base/json";
import { findModule } from "@metier/base/programs";
import type { ModuleExport, Sandbox } from "@metier/sandbox";
import { parseToolsetEntry } from "@metier/skills";
import { createOutputPager } from "../page-output.ts";
import {
  answer,
  fault,
  type OwnedTool,
  ownTool,
  type ToolContext,
  type ToolInput,
  type ToolOutput,
} from "../tool.ts";
import {
  type KeptToolsets,
  keepToolsets,
  leftOut,
  notLoaded,
  type OfferedTool,
  type Surroundings,
  type ToolsetsKept,
} from "./keep-toolsets.ts";

export interface ToolsetsInput
  extends Surroundings,
    Pick<ToolsetsKept, "times" | "lifetimeMs" | "mayLoad" | "taintedBy"> {
  readonly skill: string;
  /** The skill's file, for diagnostics. */
  readonly path: string;
  /** The skill's real folder; absent for a skill without one. */
  readonly folder?: string | undefined;
  /** `path/module:ExportName` */
  readonly entries: readonly string[];
  /** Absent if none is suitable. */
  readonly sandbox?: Sandbox | undefined;
  /** Whether models see `skill__tool`; otherwise `tool`. */
  readonly isNamespaced: boolean;
  /** Names of the run's other tools. */
  readonly taken: readonly string[];
}

export interface OpenedToolsets {
  readonly tools: readonly OwnedTool[];
  readonly diagnostics: readonly Diagnostic[];
  close(): Promise<void>;
}

export async function openToolsets(input: ToolsetsInput): Promise<OpenedToolsets> {
  const { entries, sandbox, path } = input;
  const without = (reason: string): OpenedToolsets => closed([notLoaded(entries, reason, path)]);
  if (input.folder === undefined) return without("only a skill with its own folder can have toolsets.");
  if (!sandbox) return without("no sandbox works here, and toolsets only run in one.");
  if (!sandbox.runsPrograms) return without(`the sandbox \`${sandbox.backend}\` cannot run programs.`);
  const found = findModules(input.folder, input);
  if (found.modules.length === 0) return closed(found.diagnostics);
  const kept = keepToolsets({ ...input, ...found, folder: input.folder, sandbox });
  const ready = await kept.ready(input);
  if (!ready.ok) {
    await kept.end();
    return closed([...found.diagnostics, notLoaded(found.entries, ready.refusal, path)]);
  }
  const { checked } = ready.value;
  const offered = nameTools([...checked.tools.values()], kept, input);
  return {
    tools: offered.tools,
    diagnostics: [...found.diagnostics, ...checked.diagnostics, ...offered.diagnostics],
    close: () => kept.end(),
  };
}

function closed(diagnostics: readonly Diagnostic[]): OpenedToolsets {
  return { tools: [], diagnostics, close: () => Promise.resolve() };
}

interface FoundModules {
  readonly modules: readonly ModuleExport[];
  /** Of `modules`, as the skill names them. */
  readonly entries: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

function findModules(folder: string, { entries, path }: ToolsetsInput): FoundModules {
  const diagnostics: Diagnostic[] = [];
  const found = entries.flatMap((entry) => {
    const parsed = parseToolsetEntry(entry);
    if (parsed === undefined) return []; // The manifest has none; its rule reports them.
    const module = findModule(folder, parsed.module);
    if (module.ok) return [{ entry, module: { file: module.file, exportName: parsed.exportName } }];
    diagnostics.push(notLoaded([entry], module.message, path));
    return [];
  });
  return {
    modules: found.map(({ module }) => module),
    entries: found.map(({ entry }) => entry),
    diagnostics,
  };
}

function nameTools(
  offered: readonly OfferedTool[],
  kept: KeptToolsets,
  { skill, isNamespaced, taken, path }: ToolsetsInput,
): Pick<OpenedToolsets, "tools" | "diagnostics"> {
  const diagnostics: Diagnostic[] = [];
  const tools = offered.flatMap((tool) => {
    const owned = toTool(tool, kept, skill, isNamespaced);
    if (!taken.includes(owned.name)) return [owned];
    const reason = `the run already has a tool \`${owned.name}\``;
    diagnostics.push(leftOut(tool.name, `of \`${skill}\``, reason, path));
    return [];
  });
  return { tools, diagnostics };
}

function toTool(
  { name, description, input: schema }: OfferedTool,
  kept: KeptToolsets,
  skill: string,
  isNamespaced: boolean,
): OwnedTool {
  /** What the model was told; a changed schema comes with the answer to its next call. */
  let told = schema;
  const owned = ownTool(skill, {
    name,
    description,
    inputSchema: told,
    effect: "execute",
    async execute(input, context) {
      const outcome = await callTool(name, input, context as ToolContext, kept, told);
      told = outcome.input ?? told;
      return outcome.output ?? fault(`\`${skill}:${name}\` ${outcome.fault}`);
    },
  });
  return {
    ...owned,
    name: isNamespaced ? owned.name : name,
    get inputSchema() {
      return told;
    },
  };
}

interface Called {
  readonly output?: ToolOutput;
  /** What went wrong, after the tool's name. */
  readonly fault?: string;
  /** Its schema, if it differs from what the model was told. */
  readonly input?: JsonSchema;
}

async function callTool(
  name: string,
  input: ToolInput,
  context: ToolContext,
  kept: KeptToolsets,
  told: JsonSchema,
): Promise<Called> {
  const ready = await kept.ready(context);
  if (!ready.ok) return { fault: `was not called: ${ready.refusal}` };
  const { process, checked } = ready.value;
  const tool = checked.tools.get(name);
  if (tool === undefined) {
    const reasons = checked.diagnostics.map(({ message }) => message);
    return { fault: ["no longer exists: its code was changed.", ...reasons].join(" ") };
  }
  if (!isDeepStrictEqual(tool.input, told)) {
    const schema = JSON.stringify(tool.input);
    return {
      fault: `was not called: its code was changed, and its input schema is now ${schema}. Call it again with matching input.`,
      input: tool.input,
    };
  }
  const outcome = await process.call({ toolset: tool.toolset, tool: name, input }, context.signal);
  if (!outcome.ok) return { fault: `failed: ${outcome.refusal}` };
  const wrong = await whyNotOutput(outcome.value, tool.output);
  return wrong === undefined ? { output: answer(showResult(outcome.value, context)) } : { fault: wrong };
}

async function whyNotOutput(value: Json, schema: JsonSchema | undefined): Promise<string | undefined> {
  if (schema === undefined) return undefined;
  const checked = await checkJson(schema, value);
  return checked.ok
    ? undefined
    : `returned a result that does not match its own \`output\`: ${checked.message}`;
}

const MAX_CHARACTERS = 30_000;

/** For the model: a string unchanged, anything else as JSON. A long one goes to a file. */
function showResult(value: Json, { world, callId, redactStream }: ToolContext): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= MAX_CHARACTERS) return text;
  const pager = createOutputPager({ world, callId, maxCharacters: MAX_CHARACTERS, redactStream });
  pager.take("stdout", Buffer.from(text));
  const { stdout, notes } = pager.end();
  const left = stdout.characters - stdout.head.length;
  return [...notes, stdout.head, `[… ${left} characters left out …]`].join("\n");
}
