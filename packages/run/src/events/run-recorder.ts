/**
 * Where a run says what happens: each event is redacted, numbered and stamped once, and passed to everyone who listens. A
 * listener that fails hears no more; the run goes on.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { sayFault } from "@metier/base/diagnostic";
import type { RedactionStream, Redactor } from "@metier/sandbox/secrets";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "./run-event.ts";

export interface RunSink {
  /** For messages: `log`, `recording`. */
  readonly name: string;
  /** Whether it wants an answer piece by piece, too (`text-delta`). Default: no. */
  readonly hearsText?: boolean;
  write(event: RunEvent): void;
  close?(): void | Promise<void>;
}

/** For a nested run: it writes to the sink of the run that started it, which closes it. */
export function shareSink(sink: RunSink): RunSink {
  return { name: sink.name, write: (event) => sink.write(event) };
}

export interface RunRecorder {
  readonly runId: string;
  emit(body: RunEventBody): void;
  /** A fault beside the run: for its result and, while it goes on, for whoever listens. */
  note(diagnostic: Diagnostic): void;
  /** After the last event. */
  close(): Promise<void>;
  /** One for each sink that failed, and what was noted. */
  readonly diagnostics: readonly Diagnostic[];
}

interface RecorderOptions {
  readonly runId: string;
  readonly sinks: readonly RunSink[];
  readonly redactor: Redactor;
  /** Of a run that goes on: the number of its last event. */
  readonly lastSeq?: number | undefined;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

export function createRunRecorder(options: RecorderOptions): RunRecorder {
  const { runId, sinks, redactor } = options;
  const diagnostics: Diagnostic[] = [];
  const isTextHeard = sinks.some(({ hearsText }) => hearsText);
  const { send, close, hasFinished } = openSinks(options, (dropped) => diagnostics.push(dropped));
  /** Pieces of one text pass the gate together, so that a secret split between them is seen. */
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
      // The end of a run is the last of its log.
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
  /** Whether the last event of the run was sent. */
  hasFinished(): boolean;
  close(): Promise<void>;
}

/** Numbers and stamps events. A sink that fails hears no more, and the others hear of that. */
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
  /** A piece of text is not stored, so it has the number of the event before it. */
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
      listening = listening.filter((other) => other !== sink); // What is closed hears of no fault of the next.
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
  const message = `The ${name} of run \`${runId}\` failed and gets no more events: ${reason}`;
  const hint = "The run itself is not affected; what it says from here on is missing there.";
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

/** What a model chose: nothing in it is a word of ours. */
const FREE = "input";

/**
 * An event through the redaction gate. Words of closed sets stay: a secret that happens to be spelled `completed` must not
 * make the log unreadable, and such a word tells nothing about it.
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
      if (value === undefined) return []; // What is not told leaves no trace in the log.
      if (key === FREE) return [[key, redactor.redactJson(value)]];
      return [[key, CLOSED_WORDS.has(key) ? value : redactPart(value, redactor)]];
    }),
  );
}
