/**
 * Checks the keys of an options object passed to a public call. An unknown key is a typo that would silently change
 * nothing, so it throws at once and names the nearest option.
 */
import { UsageError } from "./errors.ts";
import { nearestNames, showNames, showValue } from "./text.ts";

/** Every key of an options type: the compiler refuses a table with a missing or extra key. */
export type OptionKeys<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws `UsageError` with the code `option.unknown` for the first key that isn't in the table, and with
 * `usage.invalid` for a value that isn't an object. `undefined` means no options. `call` is the name for messages,
 * such as `run` or `chat.send`.
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
    { hint: near ? `Did you mean \`${near}\`?` : `Use ${showNames(known)}.` },
    "option.unknown",
  );
}

/** `user` for `userId`, `event` for `onEvent`. */
function findLonger(word: string, known: readonly string[]): string | undefined {
  const part = word.toLowerCase();
  return part.length < 3 ? undefined : known.find((key) => key.toLowerCase().includes(part));
}
