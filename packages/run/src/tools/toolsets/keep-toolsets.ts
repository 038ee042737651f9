/**
 * Keeps one process ready for a run's toolsets: restarted when it has ended, when the skill's code changed, and when
 * the run's variables, view of the machine or conversation trust differ from what it was given. Calls in progress
 * finish in the old process while the next one starts. The tools it reports are checked.
 */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { checkJson, isJsonObject, type JsonSchema } from "@metier/base/json";
import { MODULE_ENDINGS } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { cleanText, showValue } from "@metier/base/text";
import { type DescribedTool, type LoadedModule, refreshWorld } from "@metier/sandbox";
import type { ToolsetStart } from "./toolset-connection.ts";
import { startToolsets, type ToolsetProcess, type ToolsetTimes } from "./toolset-process.ts";

export interface ToolsetsKept extends Pick<ToolsetStart, "sandbox" | "modules" | "lifetimeMs"> {
  /** The skill's name for each of `modules`. */
  readonly entries: readonly string[];
  /** Of the skill: its real folder, and its file for diagnostics. */
  readonly folder: string;
  readonly path: string;
  readonly times: ToolsetTimes;
  /**
   * Checked before each process, which may find other code than the last one: whether the skill is trusted as it is
   * now.
   */
  mayLoad(): boolean;
  /** Whose untrusted text is in the run's conversation by now: what a process held open before is closed with it. */
  taintedBy?(): string | undefined;
}

/** As the run has them now. */
export interface Surroundings extends Pick<ToolsetStart, "world" | "env"> {
  readonly signal?: AbortSignal | undefined;
}

/** A refusal starts in lowercase. */
type Readiness = Result<Generation, string>;

export interface KeptToolsets {
  ready(surroundings: Surroundings): Promise<Readiness>;
  end(): Promise<void>;
}

/** Unrequested ends of a process before it is left alone until its code changes. */
const MAX_CRASHES = 5;
/** A process is replaced before the sandbox treats its output as a flood. */
const MAX_WRITTEN_BYTES = 32 * 1024 * 1024;

interface Generation {
  readonly process: ToolsetProcess;
  /** What it was given. */
  readonly given: string;
  readonly checked: CheckedTools;
}

export function keepToolsets(kept: ToolsetsKept): KeptToolsets {
  const started: ToolsetProcess[] = [];
  let current: Generation | undefined;
  let stamp = stampCode(kept.folder);
  let crashes = 0;
  let isEnded = false;
  let turn: Promise<unknown> = Promise.resolve();

  async function startAnew({ world, env, signal }: Surroundings, given: string): Promise<Readiness> {
    current?.process.retire();
    current = undefined;
    const process = startToolsets({ ...kept, world, env }, kept.times, signal);
    started.push(process);
    const loaded = await process.loaded;
    if (!loaded.ok) return loaded;
    const checked = await checkTools(loaded.value, kept);
    current = { process, given, checked };
    return done(current);
  }

  async function makeReady(surroundings: Surroundings, isFirst: boolean): Promise<Readiness> {
    if (isEnded) return refused("the run has ended.");
    const now = stampCode(kept.folder);
    const isChanged = now !== stamp;
    const hasEnded = !isFirst && (current === undefined || current.process.isOver);
    const given = JSON.stringify([kept.taintedBy?.(), surroundings.env, refreshWorld(surroundings.world)]);
    const isUsable =
      !hasEnded && !isChanged && current?.given === given && current.process.written < MAX_WRITTEN_BYTES;
    if (isUsable && current) return done(current);
    if (!kept.mayLoad()) {
      return refused("its code is not loaded, because the skill in its current form is not trusted.");
    }
    stamp = now;
    crashes = isChanged ? 0 : crashes + (hasEnded ? 1 : 0);
    if (crashes >= MAX_CRASHES) {
      return refused(`the toolset process crashed ${MAX_CRASHES} times and is not restarted in this run.`);
    }
    return startAnew(surroundings, given);
  }

  return {
    ready(surroundings) {
      const isFirst = started.length === 0;
      const made = turn.then(() => makeReady(surroundings, isFirst));
      turn = made.catch(() => undefined); // Whoever asked gets the error; the next one tries again.
      return made;
    },
    async end() {
      isEnded = true;
      await Promise.all(started.map((process) => process.end()));
    },
  };
}

const CODE = new Set([...MODULE_ENDINGS, ".json", ".wasm"]);
/** Beyond these nothing is checked: a larger skill isn't fully watched, but each call stays fast. */
const MAX_ENTRIES = 2000;

/**
 * Whether a skill's code is unchanged: a string that differs if a code file below its folder was changed, added or
 * removed. It doesn't check which files a toolset imports; installed packages and hidden folders don't count.
 */
function stampCode(folder: string): string {
  const stamps: string[] = [];
  const pending = [folder];
  let entries = 0;
  for (let path = pending.shift(); path !== undefined; path = pending.shift()) {
    for (const entry of listSorted(path)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return stamps.join("\n");
      const below = join(path, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && !entry.name.startsWith(".")) pending.push(below);
      } else if (CODE.has(extname(entry.name))) stamps.push(stampFile(below));
    }
  }
  return stamps.join("\n");
}

function listSorted(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // It was removed in the meantime, which is a change like any other.
  }
}

function stampFile(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return path; // A broken link, or a file that disappeared.
  }
}

/** A tool that can be called. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  /** The index of its toolset in the skill. */
  readonly toolset: number;
}

interface CheckedTools {
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly diagnostics: readonly Diagnostic[];
}

/** What providers accept, together with a skill's name. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const MAX_TOOLS = 64;
const TOO_MANY = `a skill can have at most ${MAX_TOOLS} tools`;
const MAX_DESCRIPTION = 4000;

/** `entries`: the skill's name for each toolset. `path`: its file, for diagnostics. */
async function checkTools(
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
      if (removed) diagnostics.push(textRemoved(`${showValue(tool.name)} ${owner}`, removed, path));
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
    return "a name is a letter, then letters, digits, `_` and `-`, at most 64 characters in total";
  if (others.has(name)) return "another toolset of the skill has a tool with that name";
  if (others.size >= MAX_TOOLS) return TOO_MANY;
  if (!runs) return "it has no `run` function";
  if (typeof description !== "string" || description.trim() === "")
    return "it has no `description` for models to choose it by";
  if (description.length > MAX_DESCRIPTION)
    return `its \`description\` has ${description.length} characters; the limit is ${MAX_DESCRIPTION}`;
  if (!isSchema(input) || input.type !== "object")
    return '`input` is not a JSON Schema of an object: `{ type: "object", … }`';
  const wrongInput = await faultOf("input", input);
  if (wrongInput !== undefined) return wrongInput;
  if (output === undefined) return { name, description, input, toolset };
  if (!isSchema(output)) return "`output` is not a JSON Schema";
  return (await faultOf("output", output)) ?? { name, description, input, output, toolset };
}

function isSchema(value: unknown): value is JsonSchema {
  return isJsonObject(value);
}

async function faultOf(field: string, schema: JsonSchema): Promise<string | undefined> {
  const checked = await checkJson(schema, {});
  return !checked.ok && checked.isSchemaFault ? `\`${field}\` cannot be used: ${checked.message}` : undefined;
}

type Removed = ReturnType<typeof cleanText>["removed"];

/** Description and schemas go to the model unchanged, so invisible characters are removed from all of them. */
function cleanDescribed(tool: DescribedTool): { readonly tool: DescribedTool; readonly removed: Removed } {
  const { text, removed } = cleanText(JSON.stringify(tool));
  return { tool: removed ? (JSON.parse(text) as DescribedTool) : tool, removed };
}

export function notLoaded(entries: readonly string[], reason: string, path: string): Diagnostic {
  const which = entries.map(showValue).join(", ");
  const message = `The run continues without the tools of ${which}: ${reason}`;
  const hint = "Fix the toolset, or remove it from `toolsets`.";
  return { code: "toolset.not-loaded", severity: "warning", path, message, hint };
}

function tooMany(owner: string, beyond: number, path: string): Diagnostic {
  const message = `${beyond} tools ${owner} are skipped: ${TOO_MANY}.`;
  const hint = "Offer fewer tools; models choose better among a few.";
  return { code: "toolset.tool-left-out", severity: "warning", path, message, hint };
}

export function leftOut(name: string, owner: string, reason: string, path: string): Diagnostic {
  const message = `The tool ${showValue(name)} ${owner} is skipped: ${reason}.`;
  const hint = "Fix it in the toolset.";
  return { code: "toolset.tool-left-out", severity: "warning", path, message, hint };
}

function textRemoved(which: string, { count, example }: NonNullable<Removed>, path: string): Diagnostic {
  const message = `Removed ${count} invisible characters from the tool ${which}, ${example} first.`;
  return { code: "disclosure.text-removed", severity: "warning", path, message };
}
