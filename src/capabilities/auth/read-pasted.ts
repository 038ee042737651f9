/**
 * What a person pastes as the answer of a sign-in: an address, a part of one, or a code, with whatever stood around it. Says
 * what is in it; whether it fits a sign-in is for others to say.
 */

export interface Pasted {
  readonly kind: "address" | "query" | "code";
  /** Without what stood around it. */
  readonly text: string;
  readonly code?: string;
  readonly state?: string;
  /** As the authorization server named it: `access_denied`. */
  readonly error?: string;
  /** One of these stands there twice, and says two things. */
  readonly isContradictory?: boolean;
  /** It is the address to begin at, not the one that the browser ended at. */
  readonly isBeginning?: boolean;
}

export const MAX_PASTED = 16_384;

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
  return { kind: "code", text, ...(text !== "" && { code: decode(text) }) };
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
    ...(code?.[0] !== undefined && { code: code[0].replace(UNSEEN, "") }),
    ...(state?.[0] !== undefined && { state: state[0] }),
    ...(error?.[0] !== undefined && { error: error[0] }),
    ...([code, state, error].some((values) => (values?.length ?? 0) > 1) && { isContradictory: true }),
    ...(fields.has("response_type") && { isBeginning: true }),
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
