/** What the process of a skill's toolsets says, taken for what it is: text of someone who may have written anything. */
import {
  type CallAnswer,
  type DescribedTool,
  type LoadedModule,
  TOOLSET_PROTOCOL,
} from "../../sandbox/inside/toolset-protocol.ts";
import type { Json } from "../../skill/manifest.ts";

export type ReadAnswer =
  | CallAnswer
  | { readonly type: "loaded"; readonly toolsets: readonly LoadedModule[] }
  | { readonly type: "fault" /** Begins in lower case. */; readonly message: string };

/** `modules`: how many were to be loaded. */
export function readAnswer(line: string, modules: number): ReadAnswer {
  const answer = asObject(parse(line));
  const { type, id, value = null, message, protocol, toolsets } = answer;
  if (type === "result" && typeof id === "number") return { type, id, value };
  if (type === "error" && typeof id === "number" && typeof message === "string") return { type, id, message };
  if (type !== "loaded") return fault("what it said is no message of the protocol");
  if (protocol !== TOOLSET_PROTOCOL) return fault(`it speaks another version than ${TOOLSET_PROTOCOL}`);
  const loaded = Array.isArray(toolsets) ? toolsets.map(readModule) : [];
  if (loaded.length !== modules) return fault("what it loaded is not what it was to load");
  return { type, toolsets: loaded };
}

function fault(message: string): ReadAnswer {
  return { type: "fault", message };
}

function readModule(value: Json): LoadedModule {
  const { fault: message, name, tools } = asObject(value);
  if (typeof message === "string") return { fault: message };
  if (!Array.isArray(tools)) return { fault: "it was not described" };
  return { ...(typeof name === "string" && { name }), tools: tools.map(readTool) };
}

function readTool(value: Json): DescribedTool {
  const { name, description, input, output, runs } = asObject(value);
  return { name: typeof name === "string" ? name : "", description, input, output, runs: runs === true };
}

function parse(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return null; // Whoever reads it sees that it is no message.
  }
}

function asObject(value: Json | undefined): Readonly<Record<string, Json>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, Json>>) : {};
}
