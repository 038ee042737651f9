/**
 * Where a run says what happens: each event is redacted, numbered and stamped once, and passed to everyone who listens. A
 * listener that fails hears no more; the run goes on.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { RedactionStream, Redactor } from "../secrets/redaction.ts";
import { redactEvent } from "./redact-event.ts";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "./run-event.ts";

export interface RunSink {
  /** For messages: `log`, `recording`. */
  readonly name: string;
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
  /** After the last event. */
  close(): Promise<void>;
  /** One for each sink that failed. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface RecorderOptions {
  readonly runId: string;
  readonly sinks: readonly RunSink[];
  readonly redactor: Redactor;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

type TextDelta = Extract<RunEventBody, { type: "text-delta" }>;

export function createRunRecorder({
  runId,
  sinks,
  redactor,
  clock = Date.now,
}: RecorderOptions): RunRecorder {
  const diagnostics: Diagnostic[] = [];
  let listening = [...sinks];
  let seq = 0;
  /** Pieces of one text pass the gate together, so that a secret split between them is seen. */
  let open: { readonly step: number; readonly gate: RedactionStream } | undefined;

  const drop = (sink: RunSink, fault: unknown): void => {
    const reason = redactor.redact(fault instanceof Error ? fault.message : String(fault));
    const message = `The ${sink.name} of run \`${runId}\` failed and gets no more events: ${reason}`;
    const hint = "The run itself is not affected; what it says from here on is missing there.";
    diagnostics.push({ code: "run.sink-failed", severity: "warning", message, path: "", hint });
    listening = listening.filter((other) => other !== sink);
    send({ type: "diagnostic", code: "run.sink-failed", message });
  };
  /** A piece of text is not stored, so it has the number of the event before it. */
  const send = (body: RunEventBody): void => {
    if (body.type !== "text-delta") seq += 1;
    const event: RunEvent = { v: EVENT_VERSION, runId, seq, at: new Date(clock()).toISOString(), ...body };
    for (const sink of listening) {
      try {
        sink.write(event);
      } catch (fault) {
        drop(sink, fault);
      }
    }
  };
  const endText = (): void => {
    const text = open?.gate.end();
    if (open && text) send({ type: "text-delta", step: open.step, text });
    open = undefined;
  };
  const sendText = ({ step, text }: TextDelta): void => {
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
        sendText(body);
        return;
      }
      endText();
      send(redactEvent(body, redactor));
    },
    async close() {
      endText();
      for (const sink of listening) {
        listening = listening.filter((other) => other !== sink); // What is closed hears of no fault of the next.
        try {
          await sink.close?.();
        } catch (fault) {
          drop(sink, fault);
        }
      }
    },
  };
}
