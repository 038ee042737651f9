/**
 * From what a user gave to complete a sign-in to one code: checked against the `state` that the sign-in expects, and against
 * itself where a code and an address were given. No message repeats a code.
 */
import { type Answer, answerFault, answerWith } from "../capability.ts";
import type { AuthFlow, CompleteRequest } from "../capability-broker.ts";

export type GivenAnswer = Omit<CompleteRequest, "flowId">;

interface NormalisedAnswer {
  readonly code: string;
  readonly callbackUrl?: string | undefined;
  readonly state?: string | undefined;
}

/** RFC 6749, appendix A.11. */
const CODE = /^[\x21-\x7e]{1,4096}$/;
const HINT = "Give the whole address that the browser ended at, or the code that was shown.";

export function normaliseAnswer(given: GivenAnswer, expectedState?: string): Answer<NormalisedAnswer> {
  const read = readGiven(given);
  if (!read.ok) return read;
  const { parts, address } = read.value;
  const states = [...new Set(parts.flatMap((part) => part.state ?? []))];
  const codes = [...new Set(parts.flatMap((part) => part.code ?? []))];
  const isStateless = states.length === 0 && given.isFromBrowser === true;
  const isOther = states.some((one) => !isSameState(one, expectedState ?? one));
  if (isOther || (isStateless && expectedState !== undefined)) {
    const message = isOther
      ? "The `state` in the address is not the one of this sign-in: it belongs to another one."
      : "The browser was sent here without the `state` of this sign-in, so it is no answer to it.";
    return answerFault("capability_auth_state_mismatch", message, {
      hint: "Open the address of this sign-in and paste where the browser ends, or list the ones that are pending.",
    });
  }
  const error = parts.find((part) => part.error !== undefined)?.error;
  if (error !== undefined) return refuseDenied(error);
  if (codes.length > 1 || states.length > 1) {
    const message = "The code that was given is not the one in the address.";
    return answerFault("capability_auth_code_conflict", message, {
      hint: "Give one of them, the newer one.",
    });
  }
  const [code] = codes;
  if (code === undefined) return refuseMissing(parts);
  if (!CODE.test(code)) {
    return answerFault(
      "capability_auth_code_missing",
      "What was given is no code: it has characters none has.",
      { hint: HINT },
    );
  }
  return answerWith({ code, callbackUrl: address, state: states[0] });
}

/** A blank stands as `+` in some addresses and as `%20` in others. */
export function isSameState(a: string, b: string): boolean {
  return a.replaceAll(" ", "+") === b.replaceAll(" ", "+");
}

interface ReadAnswer {
  readonly parts: readonly Pasted[];
  /** The one that the provider is given. */
  readonly address?: string | undefined;
}

function readGiven({ code, callbackUrl }: GivenAnswer): Answer<ReadAnswer> {
  const given = [callbackUrl, code].filter((text) => text !== undefined && text.trim() !== "");
  if (given.some((text) => (text?.length ?? 0) > MAX_PASTED)) {
    const message = `What was given has more than ${MAX_PASTED} characters, which no answer of a sign-in has.`;
    return answerFault("capability_auth_callback_invalid", message, { hint: HINT });
  }
  const address = callbackUrl?.trim() ? readPasted(callbackUrl) : undefined;
  const pasted = code?.trim() ? readPasted(code) : undefined;
  if (address && address.kind !== "address") {
    return answerFault("capability_auth_callback_invalid", "The address that was given is not a URL.", {
      hint: "It begins with `http://` or `https://`. A code alone is given as a code.",
    });
  }
  const parts = [address, pasted].filter((part) => part !== undefined);
  if (parts.some(({ kind, text }) => kind === "address" && !URL.canParse(text))) {
    return answerFault("capability_auth_callback_invalid", "The address that was given is not a URL.", {
      hint: HINT,
    });
  }
  if (parts.some(({ isContradictory }) => isContradictory)) {
    const message = "The address has a field twice, with different values, as no answer of a sign-in has.";
    return answerFault("capability_auth_callback_invalid", message, { hint: HINT });
  }
  const text = address?.text ?? (pasted?.kind === "address" ? pasted.text : undefined);
  return answerWith({ parts, address: text });
}

/** Not only the user says no: a server may find something wrong with the request. */
function refuseDenied(error: string): Answer<never> {
  const name = /^[\w.-]{1,64}$/.test(error) ? `\`${error}\`` : "an error";
  const message =
    error === "access_denied"
      ? "The sign-in was denied (`access_denied`): access was not granted."
      : `The sign-in was answered with ${name} instead of a code.`;
  return answerFault("capability_auth_flow_denied", message, { hint: "Begin a new sign-in to try again." });
}

function refuseMissing(parts: readonly Pasted[]): Answer<never> {
  if (parts.some(({ isBeginning }) => isBeginning)) {
    const message = "This is the address where the sign-in begins; there is no code in it yet.";
    return answerFault("capability_auth_code_missing", message, {
      hint: "Open it in a browser, sign in, and give the address that the browser ends at.",
    });
  }
  const message =
    parts.length === 0 ? "No code and no address was given." : "There is no `code` in what was given.";
  return answerFault("capability_auth_code_missing", message, { hint: HINT });
}

/**
 * What a person pastes: an address, a part of one, or a code, with whatever stood around it. Says what is in it; whether it
 * fits a sign-in is for others to say.
 */
interface Pasted {
  readonly kind: "address" | "query" | "code";
  /** Without what stood around it. */
  readonly text: string;
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  /** As the authorization server named it: `access_denied`. */
  readonly error?: string | undefined;
  /** One of these stands there twice, and says two things. */
  readonly isContradictory?: boolean | undefined;
  /** It is the address to begin at, not the one that the browser ended at. */
  readonly isBeginning?: boolean | undefined;
}

const MAX_PASTED = 16_384;

/** Line breaks of a terminal or a mail, and what cannot be seen. */
const UNSEEN = /[\s\p{C}]+/gu;
const OPENING = new Set("([{<\"'`“”‘’«»*");
const CLOSING = new Set(")]}>\"'`“”‘’«»*.,;");
const LABEL = /^(?:authori[sz]ation)?code:(?!\/)/iu;
/** Address bars tend to hide the scheme. */
const SCHEMELESS = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\/?[?#/]/iu;
/** `https:`, or the own scheme of a program, which has a dot (RFC 8252). */
const ADDRESS = /^(?:https?:\/\/|[a-z][a-z0-9+-]*\.[a-z0-9+.-]*:\/)/iu;
const QUERY = /^(?:[^:=]*[?#&])?(?:[\w.-]+=[^&]*&)*(?:code|error|state)=/iu;

export function readPasted(pasted: string): Pasted {
  const text = unwrap(pasted.replace(UNSEEN, "")).replace(LABEL, "");
  if (SCHEMELESS.test(text)) return readAddress(`http://${text}`);
  if (ADDRESS.test(text)) return readAddress(text);
  if (QUERY.test(text)) return { kind: "query", text, ...readFields(text.replace(/^[^=]*[?#&]/u, "")) };
  return { kind: "code", text, code: text === "" ? undefined : decode(text) };
}

function unwrap(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && OPENING.has(text.charAt(start))) start++;
  while (end > start && CLOSING.has(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function readAddress(text: string): Pasted {
  const plain = text.replaceAll("&amp;", "&"); // Copied from a page's source.
  const [, query = "", fragment = ""] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/su.exec(plain) ?? [];
  return { kind: "address", text: plain, ...readFields(`${query}&${fragment}`) };
}

type Fields = Pick<Pasted, "code" | "state" | "error" | "isContradictory" | "isBeginning">;

function readFields(query: string): Fields {
  // A code has no blanks, so a plus in it is one, though in queries it stands for a blank.
  const fields = new URLSearchParams(query.replaceAll("&amp;", "&").replaceAll("+", "%2B"));
  const [code, state, error] = ["code", "state", "error"].map((name) => [
    ...new Set(fields.getAll(name).filter((value) => value !== "")),
  ]);
  return {
    code: code?.[0]?.replace(UNSEEN, ""),
    state: state?.[0],
    error: error?.[0],
    isContradictory: [code, state, error].some((values) => (values?.length ?? 0) > 1) || undefined,
    isBeginning: fields.has("response_type") || undefined,
  };
}

/** A code that was copied out of an address is still encoded. */
function decode(code: string): string {
  if (!/%[0-9a-f]{2}/iu.test(code)) return code;
  try {
    return decodeURIComponent(code);
  } catch {
    return code; // It has a percent sign of its own.
  }
}

// The answer of a sign-in in a user's own message. A model that passes a task on tends to tell it in other words, so the
// message is looked at as it was written. Finding is not completing: what is found is checked above.

interface RecognisedAnswer {
  readonly kind: "address" | "code";
  /** To be given on as it is. */
  readonly text: string;
  /** The sign-in that it answers, where there is no doubt. */
  readonly flow?: AuthFlow | undefined;
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
  if (address) return { kind: "address", text: address.text, flow: flowOf(address, waiting) };
  const code = findCode(message, waiting);
  if (code === undefined) return undefined;
  return { kind: "code", text: code, flow: onlyOne(waiting) };
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
