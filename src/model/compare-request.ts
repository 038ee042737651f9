/** Whether a model is asked what it was asked when the run was recorded: system prompt, texts, calls, results. */
import type { MessagePart, RecordedMessage } from "../events/run-event.ts";
import type { Json } from "../skill/manifest.ts";
import { type RunPlace, toPlaceholders } from "./placeholders.ts";

export interface RecordedRequest {
  readonly system?: string;
  /** New since the step before. */
  readonly messages: readonly RecordedMessage[];
}

export interface Difference {
  /** What differs: "the system prompt", "the result of `bash`". */
  readonly what: string;
  readonly recorded: string;
  readonly came: string;
}

interface Side {
  readonly request: RecordedRequest;
  readonly place: RunPlace;
}

/** The first difference that is a real one. */
export function compareRequest(recorded: Side, came: Side): Difference | undefined {
  const recordedPieces = piecesOf(recorded);
  const camePieces = piecesOf(came);
  for (const [index, piece] of recordedPieces.entries()) {
    const other = camePieces[index];
    if (other === undefined) return { what: piece.what, recorded: excerpt(piece.text, 0), came: "(nothing)" };
    if (piece.what !== other.what) {
      return { what: "the order of messages", recorded: piece.what, came: other.what };
    }
    if (piece.text !== other.text) return showDifference(piece.what, piece.text, other.text);
  }
  const extra = camePieces[recordedPieces.length];
  return extra && { what: extra.what, recorded: "(nothing)", came: excerpt(extra.text, 0) };
}

interface Piece {
  readonly what: string;
  readonly text: string;
}

function piecesOf({ request: { system, messages }, place }: Side): readonly Piece[] {
  const pieces = messages.flatMap(({ role, parts }) => byCall(parts).map((part) => describePart(role, part)));
  const all = system === undefined ? pieces : [{ what: "the system prompt", text: system }, ...pieces];
  return all.map(({ what, text }) => ({ what, text: toPlaceholders(text, place) }));
}

/** Results come in the order in which tools finish, which is not the same every time. */
function byCall(parts: readonly MessagePart[]): readonly MessagePart[] {
  if (!parts.every((part) => part.type === "tool-result")) return parts;
  return parts.toSorted((a, b) => (a.callId < b.callId ? -1 : 1));
}

function describePart(role: RecordedMessage["role"], part: MessagePart): Piece {
  switch (part.type) {
    case "text":
      return { what: role === "user" ? "a text of the user" : "a text of the model", text: part.text };
    case "tool-call":
      return { what: `the call of \`${part.tool}\``, text: stableJson(part.input) };
    case "tool-result":
      return {
        what: `the result of \`${part.tool}\``,
        text: part.isError ? `error: ${part.text}` : part.text,
      };
  }
}

/** The order of keys means nothing. */
function stableJson(value: Json): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function showDifference(what: string, recorded: string, came: string): Difference {
  let start = 0;
  while (start < recorded.length && recorded[start] === came[start]) start += 1;
  return { what, recorded: excerpt(recorded, start), came: excerpt(came, start) };
}

const BEFORE = 60;
const AFTER = 160;

/** Around the place where two texts part. */
function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - BEFORE);
  const to = Math.min(text.length, at + AFTER);
  return JSON.stringify(`${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`);
}
