/**
 * From what a user gave to complete a sign-in to one code: checked against the `state` that the sign-in expects, and against
 * itself where a code and an address were given. No message repeats a code.
 */
import { type Answer, done, refuse } from "../capability-fault.ts";
import { MAX_PASTED, type Pasted, readPasted } from "./read-pasted.ts";

export interface GivenAnswer {
  readonly code?: string;
  readonly callbackUrl?: string;
  readonly isFromBrowser?: boolean;
}

export interface NormalisedAnswer {
  readonly code: string;
  readonly callbackUrl?: string;
  readonly state?: string;
}

/** RFC 6749, appendix A.11. */
const CODE = /^[\x21-\x7e]{1,4096}$/;
const HINT = "Give the whole address that the browser ended at, or the code that was shown.";

export function normaliseAnswer(given: GivenAnswer, expectedState?: string): Answer<NormalisedAnswer> {
  const read = readGiven(given);
  if (!read.ok) return read;
  const { parts, address } = read.value;
  const state = agree(parts.map((part) => part.state));
  const code = agree(parts.map((part) => part.code));
  const isStateless = state.all.length === 0 && given.isFromBrowser === true;
  const isOther = state.all.some((one) => !isSameState(one, expectedState ?? one));
  if (isOther || (isStateless && expectedState !== undefined)) {
    const message = isOther
      ? "The `state` in the address is not the one of this sign-in: it belongs to another one."
      : "The browser was sent here without the `state` of this sign-in, so it is no answer to it.";
    return refuse("capability_auth_state_mismatch", message, {
      hint: "Open the address of this sign-in and paste where the browser ends, or list the ones that are pending.",
    });
  }
  const error = parts.find((part) => part.error !== undefined)?.error;
  if (error !== undefined) return refuseDenied(error);
  if (code.all.length > 1 || state.all.length > 1) {
    const message = "The code that was given is not the one in the address.";
    return refuse("capability_auth_code_conflict", message, { hint: "Give one of them, the newer one." });
  }
  if (code.one === undefined) return refuseMissing(parts);
  if (!CODE.test(code.one)) {
    return refuse("capability_auth_code_missing", "What was given is no code: it has characters none has.", {
      hint: HINT,
    });
  }
  return done({
    code: code.one,
    ...(address !== undefined && { callbackUrl: address }),
    ...(state.one !== undefined && { state: state.one }),
  });
}

/** A blank stands as `+` in some addresses and as `%20` in others. */
export function isSameState(a: string, b: string): boolean {
  return a.replaceAll(" ", "+") === b.replaceAll(" ", "+");
}

interface ReadAnswer {
  readonly parts: readonly Pasted[];
  /** The one that the provider is given. */
  readonly address?: string;
}

function readGiven({ code, callbackUrl }: GivenAnswer): Answer<ReadAnswer> {
  const given = [callbackUrl, code].filter((text) => text !== undefined && text.trim() !== "");
  if (given.some((text) => (text?.length ?? 0) > MAX_PASTED)) {
    const message = `What was given has more than ${MAX_PASTED} characters, which no answer of a sign-in has.`;
    return refuse("capability_auth_callback_invalid", message, { hint: HINT });
  }
  const address = callbackUrl?.trim() ? readPasted(callbackUrl) : undefined;
  const pasted = code?.trim() ? readPasted(code) : undefined;
  if (address && address.kind !== "address") {
    return refuse("capability_auth_callback_invalid", "The address that was given is not a URL.", {
      hint: "It begins with `http://` or `https://`. A code alone is given as a code.",
    });
  }
  const parts = [address, pasted].filter((part) => part !== undefined);
  if (parts.some(({ kind, text }) => kind === "address" && !URL.canParse(text))) {
    return refuse("capability_auth_callback_invalid", "The address that was given is not a URL.", {
      hint: HINT,
    });
  }
  if (parts.some(({ isContradictory }) => isContradictory)) {
    const message = "The address has a field twice, with different values, as no answer of a sign-in has.";
    return refuse("capability_auth_callback_invalid", message, { hint: HINT });
  }
  const text = address?.text ?? (pasted?.kind === "address" ? pasted.text : undefined);
  return done({ parts, ...(text !== undefined && { address: text }) });
}

interface Agreement {
  readonly all: readonly string[];
  readonly one?: string | undefined;
}

function agree(values: readonly (string | undefined)[]): Agreement {
  const all = [...new Set(values.filter((value) => value !== undefined))];
  return { all, one: all[0] };
}

/** Not only the user says no: a server may find something wrong with the request. */
function refuseDenied(error: string): Answer<never> {
  const name = /^[\w.-]{1,64}$/.test(error) ? `\`${error}\`` : "an error";
  const message =
    error === "access_denied"
      ? "The sign-in was denied (`access_denied`): access was not granted."
      : `The sign-in was answered with ${name} instead of a code.`;
  return refuse("capability_auth_flow_denied", message, { hint: "Begin a new sign-in to try again." });
}

function refuseMissing(parts: readonly Pasted[]): Answer<never> {
  if (parts.some(({ isBeginning }) => isBeginning)) {
    const message = "This is the address where the sign-in begins; there is no code in it yet.";
    return refuse("capability_auth_code_missing", message, {
      hint: "Open it in a browser, sign in, and give the address that the browser ends at.",
    });
  }
  const message =
    parts.length === 0 ? "No code and no address was given." : "There is no `code` in what was given.";
  return refuse("capability_auth_code_missing", message, { hint: HINT });
}
