/**
 * What both sides of a sandbox agree on: paths that are valid only inside, and the protocol between Metier and the
 * process of a skill's toolsets, one JSON value per line. `load` comes first and is answered by `loaded`; then each
 * `call` is answered by one `result` or `error`, in any order.
 */
import type { ToolsetContext, ToolsetJson } from "./define-toolset.ts";

/** Both sides state it; a process of another version is refused. */
export const TOOLSET_PROTOCOL = 1;

/** Bytes per line, either way. */
export const MAX_LINE_BYTES = 1024 * 1024;

/** The process's descriptors: its standard streams belong to the toolset, which may print and read freely. */
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
  /** Its index in `modules`. */
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
  /** One per entry of `modules`. */
  readonly toolsets: readonly LoadedModule[];
}

export type LoadedModule =
  | { readonly name?: string | undefined; readonly tools: readonly DescribedTool[] }
  /** Why it cannot be used; starts in lowercase. */
  | { readonly fault: string };

/** As in the module, unchecked. */
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

/** Metier's own programs; first on the PATH. */
export const BIN = "/run/metier/bin";
/** This folder. */
export const INSIDE = "/run/metier/inside";
/** The allow-list proxy's socket, for a command with granted domains. */
export const EGRESS_SOCKET = "/run/metier/egress.sock";
/** The capability socket, for a command of a run whose skill declares some. */
export const CAPABILITY_SOCKET = "/run/metier/capability.sock";
