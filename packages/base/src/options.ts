/**
 * The keys of an options object, as a program gives it to a public call. A key that no option has is a slip that would
 * otherwise change nothing and say nothing, so it is thrown at once, with the nearest known name.
 */
import { UsageError } from "./errors.ts";
import { nearestNames, showNames, showValue } from "./text.ts";

/** Every key of an options type: the compiler refuses a table that misses one or has one too many. */
export type OptionKeys<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws `UsageError` with the code `option.unknown` for the first key that the table does not have, and with
 * `usage.invalid` for what is no object at all. `undefined`: no options were given. `call` is as messages name it, such
 * as `run` or `chat.send`.
 */
export function checkKeys(call: string, options: unknown, keys: Readonly<Record<string, unknown>>): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new UsageError(`\`${call}\` takes its options as one object.`);
  }
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(keys, key));
  if (unknown === undefined) return;
  const known = Object.keys(keys);
  const near = nearestNames(unknown, known, 1)[0] ?? findLonger(unknown, known);
  throw new UsageError(
    `\`${call}\` has no option ${showValue(unknown)}.`,
    { hint: near ? `Did you mean \`${near}\`?` : `It has ${showNames(known)}.` },
    "option.unknown",
  );
}

/** `user` for `userId`, `event` for `onEvent`. */
function findLonger(word: string, known: readonly string[]): string | undefined {
  const part = word.toLowerCase();
  return part.length < 3 ? undefined : known.find((key) => key.toLowerCase().includes(part));
}
