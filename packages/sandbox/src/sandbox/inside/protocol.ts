/**
 * What both sides of a sandbox agree on: paths that hold only inside, and what Metier and the process of a skill's toolsets
 * say to each other, one JSON value a line. `load` comes first and is answered by `loaded`; then each `call` is answered by
 * one `result` or `error`, in any order.
 */
import type { ToolsetContext, ToolsetJson } from "./define-toolset.ts";

/** Both sides state it; a process of another version is not talked to. */
export const TOOLSET_PROTOCOL = 1;

/** Of one line, in bytes, either way. */
export const MAX_LINE_BYTES = 1024 * 1024;

/** Descriptors of the process: its standard streams are left to the toolset, which may print and read as it likes. */
export const ANSWERS_DESCRIPTOR = 3;
export const REQUESTS_DESCRIPTOR = 4;

export interface LoadRequest {
  readonly type: "load";
  readonly protocol: number;
  readonly modules: readonly ModuleExport[];
  readonly folders: Omit<ToolsetContext, "signal">;
}

export interface ModuleExport {
  /** Absolute. */
  readonly file: string;
  readonly exportName: string;
}

export interface CallRequest {
  readonly type: "call";
  readonly id: number;
  /** Its place among `modules`. */
  readonly toolset: number;
  readonly tool: string;
  readonly input: ToolsetJson;
}

interface CancelRequest {
  readonly type: "cancel";
  readonly id: number;
}

export type ToolsetRequest = LoadRequest | CallRequest | CancelRequest;

interface LoadedAnswer {
  readonly type: "loaded";
  readonly protocol: number;
  /** One for each of `modules`. */
  readonly toolsets: readonly LoadedModule[];
}

export type LoadedModule =
  | { readonly name?: string | undefined; readonly tools: readonly DescribedTool[] }
  /** Why it cannot be used; begins in lower case. */
  | { readonly fault: string };

/** As the module has it: nothing of it was checked. */
export interface DescribedTool {
  readonly name: string;
  readonly description?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly runs: boolean;
}

export type CallAnswer =
  | { readonly type: "result"; readonly id: number; readonly value: ToolsetJson }
  | { readonly type: "error"; readonly id: number; readonly message: string };

export type ToolsetAnswer = LoadedAnswer | CallAnswer;

/** The programs that Metier brings; first on the PATH. */
export const BIN = "/run/metier/bin";
/** This folder. */
export const INSIDE = "/run/metier/inside";
/** The socket of the allow-list proxy, for a command that is granted domains. */
export const EGRESS_SOCKET = "/run/metier/egress.sock";
/** The socket of the capabilities, for a command of a run whose skill declares some. */
export const CAPABILITY_SOCKET = "/run/metier/capability.sock";
