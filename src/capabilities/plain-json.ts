/** Values of a program become plain JSON objects: a copy without methods, cycles and surprises, of a bounded size. */
import type { JsonObject } from "./capability.ts";

/** A frame of the socket holds 10 MB; this leaves room for what stands around it. */
export const MOST_CHARACTERS: number = 8 * 1024 * 1024;

export type PlainObject =
  | { readonly ok: true; readonly value: JsonObject }
  | {
      readonly ok: false /** Goes on after what it is about: "is not an object". */;
      readonly problem: string;
    };

export function readPlainObject(value: unknown): PlainObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = value === null ? "null" : Array.isArray(value) ? "a list" : `of type ${typeof value}`;
    return { ok: false, problem: `is ${kind}; it has to be a JSON object` };
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return { ok: false, problem: `cannot be written as JSON (${(error as Error).message.split("\n")[0]})` };
  }
  if (text === undefined || !text.startsWith("{")) {
    return { ok: false, problem: "is no plain object; it has to be a JSON object" };
  }
  if (text.length > MOST_CHARACTERS) {
    return {
      ok: false,
      problem: `has ${text.length} characters as JSON; at most ${MOST_CHARACTERS} are allowed`,
    };
  }
  return { ok: true, value: JSON.parse(text) as JsonObject };
}
