/**
 * What a run tells a client outside the server: a browser, an app, another tenant's process. An allow-list: every field
 * is named here, and anything else, such as system prompts, messages, folders, variables, costs and diagnostics, never
 * leaves. A run's log keeps what was sent, so that every stream can start at the beginning or where it was cut off.
 */
import { dirname } from "node:path";
import type { Json } from "@metier/base/json";
import { createPathHider, type PathHider } from "./hide-paths.ts";
import type { RunEvent, RunLimit, RunStatus } from "./run-event.ts";

type ClientEventBody =
  /** A skill's run or a chat's turn (`chat`) has started. Not sent for a refused request. */
  | { readonly type: "run-started"; readonly skill: string }
  /** The model is asked: the first time, and again with the results of its tool calls. */
  | { readonly type: "step-started"; readonly step: number }
  /** A piece of the model's text. */
  | { readonly type: "text-delta"; readonly step: number; readonly text: string }
  | {
      readonly type: "tool-called";
      readonly step: number;
      /** Unique in the run. */
      readonly callId: string;
      readonly tool: string;
      /** Whether the policy, or the person asked, allowed it. */
      readonly allowed: boolean;
      /** Only for tools that the stream shows (`showTools`). */
      readonly input?: Json | undefined;
    }
  | {
      readonly type: "tool-finished";
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
      readonly isError: boolean;
      /** Only for tools that the stream shows (`showTools`). */
      readonly output?: string | undefined;
    }
  /** A skill runs in isolation for this run; its own events aren't included. */
  | { readonly type: "skill-started"; readonly skillRunId: string; readonly skill: string }
  | {
      readonly type: "skill-finished";
      readonly skillRunId: string;
      readonly skill: string;
      readonly status: RunStatus;
    }
  /** The last event, whatever the outcome. */
  | {
      readonly type: "run-finished";
      readonly status: RunStatus;
      /** The text so far. */
      readonly text: string;
      /** For a run with `output`: the value that matches its schema. */
      readonly object?: Json | undefined;
      readonly limit?: RunLimit | undefined;
      /** Why it didn't complete: a code, and a message that reveals nothing about the server. */
      readonly error?: { readonly code: string; readonly message: string } | undefined;
    };

/** One event of a run, as a client may see it. */
export type ClientEvent = ClientEventBody & {
  /** Where an interrupted stream continues: the `id` of a server-sent event. */
  readonly id: string;
  readonly runId: string;
};

/** How a run ended, as far as a client is told. */
interface ClientEnding {
  readonly status: RunStatus;
  readonly text: string;
  readonly object?: unknown;
  readonly limit?: RunLimit | undefined;
  readonly code?: string | undefined;
}

/** What a stream shows its client beyond the usual. */
export interface ClientView {
  /** Tools whose input and output are shown, by name. */
  readonly shown: ReadonlySet<string>;
  /** The message for a run that didn't complete. */
  readonly errorText?: string | undefined;
}

/** A reader's position: the next entry, and for a text, the next piece. */
export interface ClientPosition {
  readonly entry: number;
  readonly piece: number;
}

export interface ClientLog {
  readonly runId: string;
  readonly hasEnded: boolean;
  take(event: RunEvent): void;
  end(ending: ClientEnding): void;
  /** The next item for a reader; `undefined`: nothing yet, or nothing more. */
  read(
    at: ClientPosition,
    view: ClientView,
  ): { readonly event: ClientEvent; readonly next: ClientPosition } | undefined;
  /** Where a reader that has seen this `id` continues; an id of another run starts from the beginning. */
  find(id: string | null | undefined): ClientPosition;
  /** Resolves when something was added. */
  changed(): Promise<void>;
}

export const CLIENT_BEGINNING: ClientPosition = { entry: 0, piece: 0 };

type TextEntry = { readonly type: "text"; readonly step: number; readonly pieces: string[] };
type Entry = Exclude<ClientEventBody, { type: "text-delta" }> | TextEntry;

/** A longer tool result is cut: a client only displays it. */
const MOST_OUTPUT = 64 * 1024;

const PLAIN_WORDS: Readonly<Record<RunStatus, string>> = {
  completed: "",
  limited: "A limit stopped the answer before it was finished.",
  failed: "Something went wrong, and the answer could not be finished.",
  refused: "This request was not accepted.",
  cancelled: "Cancelled.",
};

/** `folders` are the server's, each with the name that clients see instead. */
export function createClientLog(runId: string, folders: readonly (readonly [string, string])[]): ClientLog {
  const entries = openEntries(runId);
  const paths = createPathHider();
  for (const [folder, shown] of folders) paths.hide(folder, shown);
  const callIds = createCallIds();
  const children = new Map<string, string>();
  let hasEnded = false;
  let textStep = 0;

  const add = (entry: Entry): void => {
    entries.addText(textStep, paths.end());
    entries.add(entry);
  };
  const addOwn = (event: RunEvent): void => {
    if (event.type === "text-delta") {
      textStep = event.step;
      entries.addText(event.step, paths.push(event.text));
      return;
    }
    if (event.type === "child-started") children.set(event.childRunId, event.skill);
    const entry = toEntry(event, paths, callIds);
    if (entry) add(entry);
    else entries.addText(textStep, paths.end());
  };
  const addNested = (event: RunEvent): void => {
    const skill = children.get(event.runId);
    if (skill === undefined || event.type !== "run-finished") return;
    add({ type: "skill-finished", skillRunId: event.runId, skill, status: event.status });
  };
  return {
    runId,
    read: entries.read,
    find: entries.find,
    changed: entries.changed,
    get hasEnded() {
      return hasEnded;
    },
    take(event) {
      if (hasEnded) return;
      if (event.type === "run-started") hideFolders(event, paths);
      if (event.runId === runId) addOwn(event);
      else addNested(event);
    },
    end({ status, text, object, limit, code }) {
      const message = PLAIN_WORDS[status];
      const error = status === "completed" ? undefined : { code: code ?? status, message };
      const value = object === undefined ? undefined : (paths.cleanJson(object) as Json);
      const finished = { status, text: paths.clean(text), object: value, limit, error };
      hasEnded = true; // The entry wakes readers.
      add({ type: "run-finished", ...finished });
    },
  };
}

function hideFolders(started: Extract<RunEvent, { type: "run-started" }>, paths: PathHider): void {
  const { workDir, skillDir, skill, location, cwd } = started;
  paths.hide(workDir, ".");
  paths.hide(skillDir, `skill:${skill}`);
  if (location !== "") paths.hide(dirname(location), `skill:${skill}`);
  paths.hide(cwd, ".");
}

function toEntry(event: RunEvent, paths: PathHider, callIds: CallIds): Entry | undefined {
  switch (event.type) {
    case "run-started":
      return { type: "run-started", skill: event.skill };
    case "model-called":
      return { type: "step-started", step: event.step };
    case "tool-called": {
      const { step, tool } = event;
      const callId = callIds.open(step, event.callId);
      const input = paths.cleanJson(event.input) as Json;
      return { type: "tool-called", step, callId, tool, allowed: event.decision !== "deny", input };
    }
    case "tool-finished": {
      const { step, tool, isError, text } = event;
      const callId = callIds.find(step, event.callId);
      const output = paths.clean(text.slice(0, MOST_OUTPUT));
      return { type: "tool-finished", step, callId, tool, isError, output };
    }
    case "child-started":
      return { type: "skill-started", skillRunId: event.childRunId, skill: event.skill };
    default:
      return undefined; // None of it is for a client.
  }
}

interface Entries extends Pick<ClientLog, "read" | "find" | "changed"> {
  add(entry: Entry): void;
  addText(step: number, text: string): void;
}

/** What was sent so far, and who waits for more. */
function openEntries(runId: string): Entries {
  const entries: Entry[] = [];
  let change: PromiseWithResolvers<void> | undefined;
  const add = (entry: Entry): void => {
    entries.push(entry);
    wake();
  };
  const wake = (): void => {
    change?.resolve();
    change = undefined;
  };
  const read: ClientLog["read"] = (at, view) => {
    const entry = entries[at.entry];
    if (entry === undefined) return undefined;
    if (entry.type !== "text") {
      const next = { entry: at.entry + 1, piece: 0 };
      return { event: { ...limitToView(entry, view), id: writeId(runId, next), runId }, next };
    }
    const pieces = entry.pieces.slice(at.piece);
    if (pieces.length === 0) return read({ entry: at.entry + 1, piece: 0 }, view);
    const next = { entry: at.entry, piece: entry.pieces.length };
    const event = { type: "text-delta", step: entry.step, text: pieces.join("") } as const;
    return { event: { ...event, id: writeId(runId, next), runId }, next };
  };
  return {
    add,
    read,
    addText(step, text) {
      if (text === "") return;
      const last = entries.at(-1);
      if (last?.type !== "text" || last.step !== step) return add({ type: "text", step, pieces: [text] });
      last.pieces.push(text);
      wake();
    },
    find(id) {
      const [, run, entry, piece] = /^(.+)\.(\d{1,9})\.(\d{1,9})$/.exec(id ?? "") ?? [];
      const position = { entry: Number(entry), piece: Number(piece) };
      return run === runId && position.entry <= entries.length ? position : CLIENT_BEGINNING;
    },
    changed() {
      change ??= Promise.withResolvers<void>();
      return change.promise;
    },
  };
}

function writeId(runId: string, { entry, piece }: ClientPosition): string {
  return `${runId}.${entry}.${piece}`;
}

function limitToView(entry: Exclude<Entry, TextEntry>, { shown, errorText }: ClientView): ClientEventBody {
  switch (entry.type) {
    case "tool-called": {
      const { input, ...told } = entry;
      return shown.has(entry.tool) ? entry : told;
    }
    case "tool-finished": {
      const { output, ...told } = entry;
      return shown.has(entry.tool) ? entry : told;
    }
    case "run-finished": {
      if (entry.error === undefined || errorText === undefined) return entry;
      return { ...entry, error: { ...entry.error, message: errorText } };
    }
    default:
      return entry;
  }
}

interface CallIds {
  open(step: number, callId: string): string;
  find(step: number, callId: string): string;
}

/** Some providers restart call numbers with each answer; for a client, each call has its own name. */
function createCallIds(): CallIds {
  const taken = new Set<string>();
  const given = new Map<string, string>();
  return {
    open(step, callId) {
      const own = taken.has(callId) ? `${callId}-${step}-${taken.size}` : callId;
      taken.add(own);
      given.set(`${step} ${callId}`, own);
      return own;
    },
    find: (step, callId) => given.get(`${step} ${callId}`) ?? callId,
  };
}
