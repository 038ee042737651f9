/**
 * Lets common options stand before the command (`metier --json list`), as people type them: they are moved behind it,
 * where the parser expects them.
 */
import { COMMON_FLAGS } from "./common-flags.ts";

export interface HoistedArguments {
  /** From the command on. */
  readonly rest: readonly string[];
  /** The common options that stood before it. */
  readonly leading: readonly string[];
}

export function hoistFlags(args: readonly string[]): HoistedArguments {
  let index = 0;
  while (index < args.length) {
    const arg = args[index] ?? "";
    const name = arg.startsWith("--") ? (arg.slice(2).split("=")[0] ?? "") : "";
    if (!Object.hasOwn(COMMON_FLAGS, name)) break;
    index += name === "json" || arg.includes("=") ? 1 : 2;
  }
  return { rest: args.slice(index), leading: args.slice(0, index) };
}

/** Before `--`, behind which nothing is an option any more. */
export function joinArguments({ rest, leading }: HoistedArguments): readonly string[] {
  const end = rest.indexOf("--");
  return end === -1 ? [...rest, ...leading] : [...rest.slice(0, end), ...leading, ...rest.slice(end)];
}
