/**
 * Where a run emits its events: each is redacted, numbered and stamped once, then passed to all listeners. A listener
 * that fails gets no more events; the run continues.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { sayFault } from "@metier/base/diagnostic";
import type { RedactionStream, Redactor } from "@metier/sandbox/secrets";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "./run-event.ts";

export interface RunSink {
  /** For messages: `log`, `recording`. */
  readonly name: string;
  /** Whether it also wants answers piece by piece (`text-delta`). Default: no. */
  readonly hearsText?: boolean;
  write(event: RunEvent): void;
  close?(): void | Promise<void>;
}

/** For a nested run: writes to the sink of the run that started it, which closes it. */
export function shareSink(sink: RunSink): RunSink {
  return { name: sink.name, write: (event) => sink.write(event) };
}

export interface RunRecorder {
  readonly runId: string;
  emit(body: RunEventBody): void;
  /** A problem alongside the run: for its result and, while it runs, for listeners. */
  note(diagnostic: Diagnostic): void;
  /** After the last event. */
  close(): Promise<void>;
  /** One for each failed sink, plus what was noted. */
  readonly diagnostics: readonly Diagnostic[];
}

interface RecorderOptions {
  readonly runId: string;
  readonly sinks: readonly RunSink[];
  readonly redactor: Redactor;
  /** For a run that continues: the number of its last event. */
  readonly lastSeq?: number | undefined;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

export function createRunRecorder(options: RecorderOptions): RunRecorder {
  const { runId, sinks, redactor } = options;
  const diagnostics: Diagnostic[] = [];
  const isTextHeard = sinks.some(({ hearsText }) => hearsText);
  const { send, close, hasFinished } = openSinks(options, (dropped) => diagnostics.push(dropped));
  /** Pieces of one text pass the gate together, so that a secret split between them is found. */
  let open: { readonly step: number; readonly gate: RedactionStream } | undefined;
  const endText = (): void => {
    const text = open?.gate.end();
    if (open && text) send({ type: "text-delta", step: open.step, text });
    open = undefined;
  };
  const sendText = (step: number, text: string): void => {
    if (open?.step !== step) endText();
    open ??= { step, gate: redactor.stream() };
    const safe = open.gate.push(text);
    if (safe !== "") send({ type: "text-delta", step, text: safe });
  };
  return {
    runId,
    diagnostics,
    emit(body) {
      if (body.type === "text-delta") {
        if (isTextHeard) sendText(body.step, body.text);
        return;
      }
      endText();
      return send(redactEvent(body, redactor));
    },
    note(diagnostic) {
      const message = redactor.redact(diagnostic.message);
      diagnostics.push({ ...diagnostic, message });
      // The end of a run is the last line of its log.
      if (!hasFinished()) send({ type: "diagnostic", code: diagnostic.code, message });
    },
    async close() {
      endText();
      await close();
    },
  };
}

interface OpenSinks {
  /** What has passed the gate. */
  send(body: RunEventBody): void;
  /** Whether the run's last event was sent. */
  hasFinished(): boolean;
  close(): Promise<void>;
}

/** Numbers and stamps events. A sink that fails gets no more, and the others are told. */
function openSinks(options: RecorderOptions, onDropped: (dropped: Diagnostic) => void): OpenSinks {
  const { runId, sinks, redactor, lastSeq = 0, clock = Date.now } = options;
  let listening = [...sinks];
  let seq = lastSeq;
  let isFinished = false;
  const drop = (sink: RunSink, fault: unknown): void => {
    const reason = redactor.redact(sayFault(fault));
    const dropped = reportDropped(sink, runId, reason);
    onDropped(dropped);
    listening = listening.filter((other) => other !== sink);
    send({ type: "diagnostic", code: dropped.code, message: dropped.message });
  };
  /** A piece of text isn't stored, so it has the number of the previous event. */
  const send = (body: RunEventBody): void => {
    if (body.type !== "text-delta") seq += 1;
    isFinished ||= body.type === "run-finished";
    const event: RunEvent = { v: EVENT_VERSION, runId, seq, at: new Date(clock()).toISOString(), ...body };
    for (const sink of listening) {
      if (body.type === "text-delta" && !sink.hearsText) continue;
      try {
        sink.write(event);
      } catch (fault) {
        drop(sink, fault);
      }
    }
  };
  const close = async (): Promise<void> => {
    for (const sink of listening) {
      listening = listening.filter((other) => other !== sink); // A closed sink isn't told when the next one fails.
      try {
        await sink.close?.();
      } catch (fault) {
        drop(sink, fault);
      }
    }
  };
  return { send, close, hasFinished: () => isFinished };
}

function reportDropped({ name }: RunSink, runId: string, reason: string): Diagnostic {
  const message = `The ${name} of run \`${runId}\` failed and receives no more events: ${reason}`;
  const hint = "The run itself is not affected, but later events are missing there.";
  return { code: "run.sink-failed", severity: "warning", message, path: "", hint };
}

const CLOSED_WORDS: ReadonlySet<string> = new Set([
  "type",
  "role",
  "source",
  "trust",
  "decision",
  "status",
  "limit",
  "hook",
  "outcome",
  "backend",
  "childRunId",
  "parentRunId",
  "requestId",
  "userId",
  "tenantId",
]);

/** Chosen by a model: nothing in it is one of our fixed words. */
const FREE = "input";

/**
 * Passes an event through the redaction gate. Words from fixed sets stay: a secret that happens to be spelled
 * `completed` must not make the log unreadable, and such a word reveals nothing.
 */
export function redactEvent(body: RunEventBody, redactor: Redactor): RunEventBody {
  return redactor.isIdle ? body : (redactPart(body, redactor) as RunEventBody);
}

function redactPart(part: unknown, redactor: Redactor): unknown {
  if (typeof part === "string") return redactor.redact(part);
  if (Array.isArray(part)) return part.map((item) => redactPart(item, redactor));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).flatMap(([key, value]) => {
      if (value === undefined) return []; // What isn't reported leaves no trace in the log.
      if (key === FREE) return [[key, redactor.redactJson(value)]];
      return [[key, CLOSED_WORDS.has(key) ? value : redactPart(value, redactor)]];
    }),
  );
}
