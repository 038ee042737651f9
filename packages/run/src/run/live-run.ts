/**
 * A run's state while it runs: its model, what stops it, its text, usage and denials. Its input and the decisions made
 * for it are in its context and don't change here.
 */
import { resolve } from "node:path";
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { isInside, realPathOr } from "@metier/base/places";
import type { World } from "@metier/sandbox";
import type { Reach } from "@metier/skills/config";
import type { DurableRunParts } from "../durable/durable-run.ts";
import { journalModel, recordAnswer, type Spent } from "../durable/journal-model.ts";
import type { TokenUsage } from "../events/run-event.ts";
import { costOf } from "../model/prices.ts";
import type { Tool, ToolContext, ToolInput } from "../tools/tool.ts";
import { type GuardedModel, guardModel } from "./guard-model.ts";
import type { RunContext } from "./run-context.ts";
import { createStop, NO_USAGE, type RunStop } from "./run-limits.ts";
import type { RunResult } from "./run-result.ts";
import { deliverValues } from "./run-secrets.ts";
import { createToolLog } from "./tool-log.ts";

export interface LiveRun {
  readonly context: RunContext;
  /** Counts the steps. */
  readonly model: GuardedModel;
  readonly stop: RunStop;
  /** The model's text so far. */
  readonly text: TextSoFar;
  readonly slots: CallSlots;
  readonly used: SandboxUseNotes;
  readonly denied: RunResult["denied"][number][];
  /** Diagnostics from during the run. */
  readonly diagnostics: Diagnostic[];
  /** What is reported once, however often it happens. */
  readonly said: Set<string>;
  /** How many notes its tools have written. */
  readonly notes: { count: number };
}

export function beginRun(context: RunContext): LiveRun {
  const { recorder, redactor, capabilityNotes, durable } = context;
  const stop = createStop(context.limits, context.budget, context.request.signal, durable?.steps.activeMs());
  const text = createTextSoFar();
  const guarded = openModel(context, stop, text);
  if (durable) leaveWith(durable, stop);
  const live: LiveRun = {
    context,
    model: guarded,
    stop,
    text,
    slots: createCallSlots(),
    used: createUseNotes(),
    denied: [],
    diagnostics: [],
    said: new Set(),
    notes: { count: 0 },
  };
  capabilityNotes.listen({
    onCall: (call) =>
      recorder.emit({ type: "capability-called", step: guarded.steps, ...redactor.redactJson(call) }),
    onFault: (fault) => report(live, "capability.failed", redactor.redact(fault)),
  });
  return live;
}

/** The run's model behind the redaction gate, and in a durable run's journal. */
function openModel(context: RunContext, stop: RunStop, text: TextSoFar): GuardedModel {
  const { recorder, redactor, budget, model, durable } = context;
  let spent: Spent = { usage: NO_USAGE };
  const spend = (usage: TokenUsage, cost: number | undefined): void => {
    spent = { usage, cost };
    budget.add(usage, cost);
  };
  const hear = (piece: string): void => {
    text.add(piece);
    stop.onOutput(piece);
  };
  const guarded = guardModel(model.model, {
    redactor,
    emit(event) {
      if (event.type === "model-called") text.next();
      recorder.emit(event);
    },
    onUsage(usage) {
      const cost = costOf(usage, model.pricing);
      spend(usage, cost);
      return cost;
    },
    onText: (piece) => text.add(piece),
    onOutput: (piece) => stop.onOutput(piece),
    keepAnswer: durable && (() => recordAnswer({ durable, redactor, spent: () => spent })),
  });
  if (durable === undefined) return guarded;
  return journalModel(guarded, {
    durable,
    repeat(said, { usage, cost }) {
      text.next();
      hear(said);
      spend(usage, cost);
    },
  });
}

/** What ends this process's work without ending the run. */
function leaveWith({ steps, parking }: DurableRunParts, stop: RunStop): void {
  parking.onLeave(() => stop.leave());
  const lose = (): void => parking.go("lost");
  if (steps.lost.aborted) lose();
  else steps.lost.addEventListener("abort", lose, { once: true });
}

/** A diagnostic during the run: for the log, and for the result. */
function report({ context, diagnostics }: LiveRun, code: DiagnosticCode, message: string): void {
  const { recorder, subject } = context;
  recorder.emit({ type: "diagnostic", code, message });
  diagnostics.push({ code, severity: "warning", path: subject.skill.location, message });
}

/** `key` identifies what is reported only once. */
export function reportOnce(live: LiveRun, key: string, code: DiagnosticCode, message: string): void {
  if (live.said.has(key)) return;
  live.said.add(key);
  report(live, code, message);
}

/** Created for each call: the world may have grown, and secrets may be withheld by then. */
export function toolContext(live: LiveRun, callId: string, signal: AbortSignal, tool = ""): ToolContext {
  const { place, redactor, subject, memory, runId, isIsolated } = live.context;
  const { world, network, sandbox } = place;
  return {
    callId,
    caller: Object.freeze({ ...subject.caller }), // Shared by many calls: no tool changes the caller.
    runId,
    skill: isIsolated ? subject.skill.name : undefined,
    log: createToolLog(live, { callId, tool }),
    world,
    network,
    signal,
    redactStream: () => redactor.stream(),
    env: deliverValues(subject, memory),
    sandbox,
  };
}

interface TextSoFar {
  readonly value: string;
  next(): void;
  add(text: string): void;
}

/** The text of the last step that wrote any: what a person would call the answer so far. */
function createTextSoFar(): TextSoFar {
  let last = "";
  let current = "";
  return {
    get value() {
      return current || last;
    },
    next() {
      last = current || last;
      current = "";
    },
    add(text) {
      current += text;
    },
  };
}

interface CallSlots {
  /** Counts one more call of this step: whether it may still run. */
  admit(step: number): boolean;
  /** Waits for a free slot; first come, first served. Each call leaves what it entered. */
  enter(): Promise<void>;
  leave(): void;
  /** Waits until no call is in progress. */
  idle(): Promise<void>;
}

/**
 * How many tool calls of a run can be in progress at once, and how many a step may have: a model can request thousands.
 */
export const MOST_CALLS_PER_STEP = 100;
const MOST_AT_ONCE = 8;

export function createCallSlots(): CallSlots {
  const waiting: (() => void)[] = [];
  const idle: (() => void)[] = [];
  let free = MOST_AT_ONCE;
  let current = 0;
  let counted = 0;
  return {
    admit(step) {
      if (step !== current) [current, counted] = [step, 0];
      counted += 1;
      return counted <= MOST_CALLS_PER_STEP;
    },
    async enter() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    leave() {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
      if (free === MOST_AT_ONCE) for (const resolve of idle.splice(0)) resolve();
    },
    async idle() {
      if (free < MOST_AT_ONCE) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
}

interface SandboxUseNotes {
  /** A call that was carried out. */
  note(tool: Tool, input: ToolInput, world: World): void;
  /** Sorted; `hosts`: reached by processes. */
  list(hosts: Iterable<string>): Reach;
  /** What didn't fit into the list. */
  diagnostics(path: string): readonly Diagnostic[];
}

/** Enough to see what a skill does; a run may read thousands of files. */
const MOST_LISTED = 100;

/** Tools whose `path` is in the world; the default is the working directory. */
const FILE_TOOLS: ReadonlyMap<string, "read" | "write"> = new Map([
  ["read_file", "read"],
  ["list_files", "read"],
  ["grep_search", "read"],
  ["write_file", "write"],
  ["edit_file", "write"],
]);

/**
 * What a run reached, so that its result can show what was declared and used: hosts by tools and processes, paths by
 * the file tools. Files opened by its processes aren't known. Its own folders aren't listed.
 */
export function createUseNotes(): SandboxUseNotes {
  const used = { network: new Set<string>(), read: new Set<string>(), write: new Set<string>() };
  const first = (found: ReadonlySet<string>): readonly string[] => [...found].slice(0, MOST_LISTED).sort();
  return {
    note({ name, effect }, { url, path = "." }, world) {
      if (effect === "network" && typeof url === "string" && URL.canParse(url)) {
        used.network.add(new URL(url).hostname);
      }
      const kind = FILE_TOOLS.get(name);
      if (kind === undefined || typeof path !== "string") return;
      const real = realPathOr(resolve(world.cwd, path));
      const own = [world.workDir, world.skillDir, world.dataDir];
      if (!own.some((folder) => folder !== undefined && isInside(real, folder))) used[kind].add(real);
    },
    list(hosts) {
      for (const host of hosts) used.network.add(host);
      return { network: first(used.network), read: first(used.read), write: first(used.write) };
    },
    diagnostics(path) {
      return Object.entries(used)
        .filter(([, found]) => found.size > MOST_LISTED)
        .map(([kind, found]) => ({
          code: "sandbox.use-cut",
          severity: "info",
          path,
          message: `\`sandbox.used.${kind}\` lists the first ${MOST_LISTED} of ${found.size}.`,
        }));
    },
  };
}
