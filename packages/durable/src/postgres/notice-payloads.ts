/**
 * Notices in transit: duplicates are sent once, and several share a payload, which Postgres limits to 8000 bytes. A
 * payload starts with its sender, so that nobody hears itself, and a number: if a transaction has two equal ones,
 * Postgres delivers one. They name no tenant.
 */
import { choiceShape, fitShape, recordShape, type Shape, textShape } from "@metier/base/shape";
import type { BusNotice } from "../notice-bus.ts";

/** Text goes only to those who follow a run; everything else goes to everyone. */
export const NOTICE_CHANNEL = "metier_notice";
export const TEXT_CHANNEL = "metier_text";
export const TICK_CHANNEL = "metier_tick";

/** Postgres refuses 8000, and a payload contains more than its notices. */
const MOST_BYTES = 7_800;
/** How much may wait while Postgres is unreachable; anything more isn't worth sending later. */
const MOST_WAITING = 2_000;
const MOST_TEXT = 500_000;

interface Payload {
  readonly channel: string;
  readonly text: string;
}

interface Outbox {
  add(notice: BusNotice): void;
  addTick(): void;
  /** Takes everything that waits. */
  take(): readonly Payload[];
}

/** `from`: the sender. */
export function createOutbox(from: string): Outbox {
  const waiting = new Map<string, BusNotice>();
  let textLength = 0;
  let isTicked = false;
  let number = 0;
  const head = (): string => `[${JSON.stringify(from)},${number++}`;
  return {
    add(notice) {
      if (waiting.size >= MOST_WAITING || textLength >= MOST_TEXT) return;
      if (notice.kind !== "text") return void waiting.set(JSON.stringify(notice), notice);
      const key = `text ${notice.runId}`;
      const before = waiting.get(key);
      const text = (before?.kind === "text" ? before.text : "") + notice.text;
      textLength += notice.text.length;
      waiting.set(key, { ...notice, text });
    },
    addTick() {
      isTicked = true;
    },
    take() {
      const notices = [...waiting.values()];
      const texts = notices.filter(({ kind }) => kind === "text");
      const others = notices.filter(({ kind }) => kind !== "text");
      const ticks = isTicked ? [{ channel: TICK_CHANNEL, text: `${head()}]` }] : [];
      waiting.clear();
      textLength = 0;
      isTicked = false;
      return [...ticks, ...pack(head, NOTICE_CHANNEL, others), ...pack(head, TEXT_CHANNEL, texts)];
    },
  };
}

function pack(head: () => string, channel: string, notices: readonly BusNotice[]): readonly Payload[] {
  const payloads: Payload[] = [];
  let text = "";
  const close = (): void => {
    if (text !== "") payloads.push({ channel, text: `${head()}${text}]` });
    text = "";
  };
  for (const notice of notices.flatMap(splitText)) {
    const part = `,${JSON.stringify(notice)}`;
    if (Buffer.byteLength(text) + Buffer.byteLength(part) >= MOST_BYTES) close();
    text += part;
  }
  close();
  return payloads;
}

/** Splits text into pieces that fit; ids always do. */
function splitText(notice: BusNotice): readonly BusNotice[] {
  if (notice.kind !== "text" || Buffer.byteLength(JSON.stringify(notice)) < MOST_BYTES / 2) return [notice];
  const { text } = notice;
  const half = Math.floor(text.length / 2);
  const isInPair = /[\uD800-\uDBFF]/.test(text.charAt(half - 1));
  const middle = isInPair ? half - 1 : half;
  return [text.slice(0, middle), text.slice(middle)].flatMap((piece) =>
    splitText({ ...notice, text: piece }),
  );
}

const SHAPES: Readonly<Record<BusNotice["kind"], Shape<BusNotice>>> = {
  run: recordShape({ kind: choiceShape("run"), runId: textShape }),
  list: recordShape({
    kind: choiceShape("list"),
    of: choiceShape("run", "approval"),
    id: textShape,
    runId: textShape,
  }),
  catalog: recordShape({ kind: choiceShape("catalog"), tenant: textShape }),
  watch: recordShape({ kind: choiceShape("watch"), runId: textShape }),
  text: recordShape({ kind: choiceShape("text"), runId: textShape, text: textShape }),
};

/** Anyone who can connect to the database can send something, so anything that isn't a notice is ignored. */
export function readPayload(
  text: string,
): { readonly from: string; readonly notices: readonly BusNotice[] } | undefined {
  const parts = parseList(text);
  const from = parts?.[0];
  if (parts === undefined || typeof from !== "string") return undefined;
  return { from, notices: parts.slice(2).flatMap((part) => readNotice(part) ?? []) };
}

function readNotice(part: unknown): BusNotice | undefined {
  const kind = (part as { readonly kind?: unknown } | null)?.kind;
  if (typeof kind !== "string" || !Object.hasOwn(SHAPES, kind)) return undefined;
  return fitShape(SHAPES[kind as BusNotice["kind"]], part);
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined; // Not ours.
  }
}
