/**
 * Turns what a user gave to complete a sign-in into one code, checked against the expected `state`, and against each
 * other if both a code and an address were given. No message repeats a code.
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
const HINT = "Pass the complete address where the browser ended up, or the code it showed.";

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
      ? "The `state` in the address belongs to another sign-in."
      : "The address has no `state`, so it does not answer this sign-in.";
    return answerFault("capability_auth_state_mismatch", message, {
      hint: "Open the address of this sign-in and paste the address where the browser ends up, or list the pending sign-ins.",
    });
  }
  const error = parts.find((part) => part.error !== undefined)?.error;
  if (error !== undefined) return refuseDenied(error);
  if (codes.length > 1 || states.length > 1) {
    const message = "The given code differs from the one in the address.";
    return answerFault("capability_auth_code_conflict", message, {
      hint: "Pass only the newer one.",
    });
  }
  const [code] = codes;
  if (code === undefined) return refuseMissing(parts);
  if (!CODE.test(code)) {
    return answerFault(
      "capability_auth_code_missing",
      "The given value is not a code: it contains characters that no code has.",
      { hint: HINT },
    );
  }
  return answerWith({ code, callbackUrl: address, state: states[0] });
}

/** Some addresses encode a space as `+`, others as `%20`. */
export function isSameState(a: string, b: string): boolean {
  return a.replaceAll(" ", "+") === b.replaceAll(" ", "+");
}

interface ReadAnswer {
  readonly parts: readonly Pasted[];
  /** The code that the provider gets. */
  readonly address?: string | undefined;
}

function readGiven({ code, callbackUrl }: GivenAnswer): Answer<ReadAnswer> {
  const given = [callbackUrl, code].filter((text) => text !== undefined && text.trim() !== "");
  if (given.some((text) => (text?.length ?? 0) > MAX_PASTED)) {
    const message = `The given value has more than ${MAX_PASTED} characters; no sign-in answer is that long.`;
    return answerFault("capability_auth_callback_invalid", message, { hint: HINT });
  }
  const address = callbackUrl?.trim() ? readPasted(callbackUrl) : undefined;
  const pasted = code?.trim() ? readPasted(code) : undefined;
  if (address && address.kind !== "address") {
    return answerFault("capability_auth_callback_invalid", "The given address is not a URL.", {
      hint: "It must start with `http://` or `https://`. Pass a code alone as the code.",
    });
  }
  const parts = [address, pasted].filter((part) => part !== undefined);
  if (parts.some(({ kind, text }) => kind === "address" && !URL.canParse(text))) {
    return answerFault("capability_auth_callback_invalid", "The given address is not a URL.", {
      hint: HINT,
    });
  }
  if (parts.some(({ isContradictory }) => isContradictory)) {
    const message = "The address has the same parameter twice with different values.";
    return answerFault("capability_auth_callback_invalid", message, { hint: HINT });
  }
  const text = address?.text ?? (pasted?.kind === "address" ? pasted.text : undefined);
  return answerWith({ parts, address: text });
}

/** Not only users deny: a server may reject the request. */
function refuseDenied(error: string): Answer<never> {
  const name = /^[\w.-]{1,64}$/.test(error) ? `\`${error}\`` : "an error";
  const message =
    error === "access_denied"
      ? "The sign-in was denied (`access_denied`)."
      : `The sign-in returned ${name} instead of a code.`;
  return answerFault("capability_auth_flow_denied", message, { hint: "Start a new sign-in to try again." });
}

function refuseMissing(parts: readonly Pasted[]): Answer<never> {
  if (parts.some(({ isBeginning }) => isBeginning)) {
    const message = "This is the address that starts the sign-in; it contains no code yet.";
    return answerFault("capability_auth_code_missing", message, {
      hint: "Open it in a browser, sign in, and pass the address where the browser ends up.",
    });
  }
  const message =
    parts.length === 0 ? "No code or address was given." : "The given value contains no `code`.";
  return answerFault("capability_auth_code_missing", message, { hint: HINT });
}

/**
 * Parses what a person pastes: an address, part of one, or a code, with any surrounding text. Returns what it contains;
 * callers decide whether it fits a sign-in.
 */
interface Pasted {
  readonly kind: "address" | "query" | "code";
  /** Without the surrounding text. */
  readonly text: string;
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  /** As named by the authorization server: `access_denied`. */
  readonly error?: string | undefined;
  /** One of these parameters appears twice with different values. */
  readonly isContradictory?: boolean | undefined;
  /** It is the address that starts a sign-in, not the one where the browser ended up. */
  readonly isBeginning?: boolean | undefined;
}

const MAX_PASTED = 16_384;

/** Line breaks from a terminal or mail, and invisible characters. */
const UNSEEN = /[\s\p{C}]+/gu;
const OPENING = new Set("([{<\"'`“”‘’«»*");
const CLOSING = new Set(")]}>\"'`“”‘’«»*.,;");
const LABEL = /^(?:authori[sz]ation)?code:(?!\/)/iu;
/** Address bars often hide the scheme. */
const SCHEMELESS = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\/?[?#/]/iu;
/** `https:`, or a program's own scheme, which contains a dot (RFC 8252). */
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
  // A code has no spaces, so a plus in it is a plus, although it means a space in queries.
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

/** A code copied from an address is still encoded. */
function decode(code: string): string {
  if (!/%[0-9a-f]{2}/iu.test(code)) return code;
  try {
    return decodeURIComponent(code);
  } catch {
    return code; // It contains a literal percent sign.
  }
}

// Finds a sign-in answer in a user's own message. A model tends to rephrase a task when it passes it on, so this reads
// the original message. Finding does not complete anything: the functions above check what is found.

interface RecognisedAnswer {
  readonly kind: "address" | "code";
  /** To be passed on unchanged. */
  readonly text: string;
  /** The sign-in it answers, if that is certain. */
  readonly flow?: AuthFlow | undefined;
}

/** Messages are typed or pasted; longer text is not a message. */
const MAX_MESSAGE = 65_536;
const PIECE = /[^\s"'`<>]+/gu;
const URL_START = /https?:\/\/|(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\/?[?#/]/iu;
const LOOPBACK = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:[/?#]|$)/iu;
/** The form that one large provider uses. */
const KNOWN_CODE = /^4\/[\w-]{10,}$/u;
/** Only while a sign-in is pending: a message of only letters and digits, without spaces. */
const LIKELY_CODE = /^(?=[^\d]*\d)(?=[^a-z]*[a-z])[\w./~+=-]{16,512}$/iu;

/** `flows`: the user's pending ones, newest first. Without any, only finds what clearly looks like an answer. */
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

/** If nobody waits at the address, it must be a sign-in's redirect address or carry its state. */
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
