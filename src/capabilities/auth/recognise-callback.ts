/**
 * Finds the answer of a sign-in in a user's own message. A model that passes a task on tends to tell it in other words, so
 * the message is looked at as it was written. Finding is not completing: what is found is checked there.
 */
import type { AuthFlow } from "../capability-broker.ts";
import { isSameState } from "./normalise-answer.ts";
import { type Pasted, readPasted } from "./read-pasted.ts";

export interface RecognisedAnswer {
  readonly kind: "address" | "code";
  /** To be given on as it is. */
  readonly text: string;
  /** The sign-in that it answers, where there is no doubt. */
  readonly flow?: AuthFlow;
}

/** A message is typed or pasted; a book is neither. */
const MAX_MESSAGE = 65_536;
const PIECE = /[^\s"'`<>]+/gu;
const URL_START = /https?:\/\/|(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\/?[?#/]/iu;
const LOOPBACK = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:[/?#]|$)/iu;
/** As one large provider gives it. */
const KNOWN_CODE = /^4\/[\w-]{10,}$/u;
/** Only where a sign-in is waited for: a message that is nothing but letters and digits without a blank. */
const LIKELY_CODE = /^(?=[^\d]*\d)(?=[^a-z]*[a-z])[\w./~+=-]{16,512}$/iu;

/** `flows`: the user's pending ones, newest first. Without any, only what is an answer by its looks is found. */
export function recogniseCallback(
  message: string,
  flows: readonly AuthFlow[] = [],
): RecognisedAnswer | undefined {
  if (message.length > MAX_MESSAGE) return undefined;
  const waiting = flows.filter(({ flowType }) => flowType === "authorization_code");
  const address = findAddress(message, waiting);
  if (address) {
    const flow = flowOf(address, waiting);
    return { kind: "address", text: address.text, ...(flow && { flow }) };
  }
  const code = findCode(message, waiting);
  if (code === undefined) return undefined;
  const [flow, ...others] = waiting;
  return { kind: "code", text: code, ...(flow && others.length === 0 && { flow }) };
}

function findAddress(message: string, waiting: readonly AuthFlow[]): Pasted | undefined {
  for (const [piece] of message.matchAll(PIECE)) {
    const start = piece.search(URL_START);
    const pasted = start === -1 ? undefined : readPasted(piece.slice(start));
    if (pasted?.kind === "address" && isAnswer(pasted, waiting)) return pasted;
  }
  return undefined;
}

/** Where nobody waits at the address, it must be the one that a sign-in sends the browser to, or carry its state. */
function isAnswer(pasted: Pasted, waiting: readonly AuthFlow[]): boolean {
  if (pasted.code === undefined && pasted.error === undefined) return false;
  if (pasted.isBeginning) return false;
  return (
    LOOPBACK.test(pasted.text) || waiting.some((flow) => hasState(flow, pasted) || isSentTo(flow, pasted))
  );
}

function flowOf(pasted: Pasted, waiting: readonly AuthFlow[]): AuthFlow | undefined {
  if (pasted.state !== undefined) {
    const own = waiting.find((flow) => hasState(flow, pasted));
    return own ?? onlyOne(waiting.filter((flow) => fieldOf(flow, "state") === undefined));
  }
  return onlyOne(waiting.filter((flow) => isSentTo(flow, pasted))) ?? onlyOne(waiting);
}

function onlyOne<Item>([item, ...others]: readonly Item[]): Item | undefined {
  return others.length === 0 ? item : undefined;
}

function hasState(flow: AuthFlow, { state }: Pasted): boolean {
  const expected = fieldOf(flow, "state");
  return state !== undefined && expected !== undefined && isSameState(state, expected);
}

function isSentTo(flow: AuthFlow, { text }: Pasted): boolean {
  const wanted = URL.parse(fieldOf(flow, "redirect_uri") ?? "");
  const given = URL.parse(text);
  return (
    wanted !== null && given !== null && wanted.host === given.host && wanted.pathname === given.pathname
  );
}

function fieldOf({ authUrl }: AuthFlow, name: string): string | undefined {
  return URL.parse(authUrl)?.searchParams.get(name) ?? undefined;
}

function findCode(message: string, waiting: readonly AuthFlow[]): string | undefined {
  for (const line of message.split("\n")) {
    const { kind, text, code } = readPasted(line);
    if (kind === "code" && code !== undefined && KNOWN_CODE.test(code)) return text;
    if (kind === "query" && code !== undefined && waiting.length > 0) return text;
  }
  const { kind, text } = readPasted(message);
  const isOneWord = !/\s/u.test(message.trim());
  return waiting.length > 0 && isOneWord && kind === "code" && LIKELY_CODE.test(text) ? text : undefined;
}
