/**
 * The process for one skill's toolsets, inside a run's sandbox. It loads their modules, lists their tools, and calls
 * them. It imports only this folder and `node:`; nobody trusts its answers.
 */
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { Socket } from "node:net";
import { extname } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import type { ToolsetContext } from "./define-toolset.ts";
import {
  ANSWERS_DESCRIPTOR,
  type CallRequest,
  type DescribedTool,
  type LoadedModule,
  type LoadRequest,
  MAX_LINE_BYTES,
  type ModuleExport,
  REQUESTS_DESCRIPTOR,
  TOOLSET_PROTOCOL,
  type ToolsetAnswer,
  type ToolsetRequest,
} from "./protocol.ts";

interface LoadedTool {
  readonly description?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
  run?(input: unknown, context: ToolsetContext): unknown;
}

type LoadedTools = Readonly<Record<string, LoadedTool>>;

/** What authors import, wherever their skill is. */
const AUTHORING = new Set(["metier", "metier/toolset"]);
const AUTHORING_FILE = new URL(`./define-toolset${extname(import.meta.filename)}`, import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    AUTHORING.has(specifier) ? { url: AUTHORING_FILE, shortCircuit: true } : next(specifier, context),
});

const toolsets: LoadedTools[] = [];
const underWay = new Map<number, AbortController>();
let folders: LoadRequest["folders"] = { workDir: "", skillDir: "" };

function take(request: ToolsetRequest): void {
  if (request.type === "load") void load(request);
  else if (request.type === "call") void call(request);
  else underWay.get(request.id)?.abort();
}

async function load(request: LoadRequest): Promise<void> {
  ({ folders } = request);
  const loaded: LoadedModule[] = [];
  for (const module of request.modules) loaded.push(await loadModule(module));
  say({ type: "loaded", protocol: TOOLSET_PROTOCOL, toolsets: loaded });
}

async function loadModule({ file, exportName }: ModuleExport): Promise<LoadedModule> {
  let exported: unknown;
  try {
    exported = findExport((await import(pathToFileURL(file).href)) as Record<string, unknown>, exportName);
  } catch (error) {
    toolsets.push({});
    return { fault: `its module cannot be loaded: ${describeThrown(error)}` };
  }
  const { name, tools } = (exported ?? {}) as { readonly name?: unknown; readonly tools?: unknown };
  const isToolset = typeof tools === "object" && tools !== null && !Array.isArray(tools);
  toolsets.push(isToolset ? (tools as LoadedTools) : {});
  if (exported === undefined) return { fault: `its module does not export \`${exportName}\`` };
  if (!isToolset) return { fault: `\`${exportName}\` has no \`tools\`: define it with \`defineToolset\`` };
  return {
    name: typeof name === "string" ? name : undefined,
    tools: Object.entries(tools).map(describeTool),
  };
}

/** CommonJS modules may have their exports only under `default`. */
function findExport(module: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(module, name)) return module[name];
  const { default: whole } = module;
  return typeof whole === "object" && whole !== null ? (whole as Record<string, unknown>)[name] : undefined;
}

function describeTool([name, tool]: [string, LoadedTool | null | undefined]): DescribedTool {
  const { description, input, output, run } = tool ?? {};
  return { name, description, input, output, runs: typeof run === "function" };
}

async function call({ id, toolset, tool, input }: CallRequest): Promise<void> {
  const controller = new AbortController();
  underWay.set(id, controller);
  try {
    const value = await toolsets[toolset]?.[tool]?.run?.(input, { ...folders, signal: controller.signal });
    say({ type: "result", id, value: (value ?? null) as null });
  } catch (error) {
    say({ type: "error", id, message: describeThrown(error) });
  } finally {
    underWay.delete(id);
  }
}

/** Throws for a value that is not JSON, or too long. */
function say(answer: ToolsetAnswer): void {
  const line = Buffer.from(`${JSON.stringify(answer)}\n`);
  if (line.length > MAX_LINE_BYTES) {
    throw new Error(`the answer has ${line.length} bytes; the limit is ${MAX_LINE_BYTES} bytes`);
  }
  // Written synchronously and in order, also if the process exits right after.
  for (let sent = 0; sent < line.length; ) sent += writeSync(ANSWERS_DESCRIPTOR, line, sent);
}

const MAX_MESSAGE = 4000;

function describeThrown(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : inspect(error);
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}

const requests = new Socket({ fd: REQUESTS_DESCRIPTOR, readable: true, writable: false });
for await (const line of createInterface({ input: requests })) take(JSON.parse(line) as ToolsetRequest);
process.exit(0); // Nobody is asking anymore, whatever the toolset still does.
