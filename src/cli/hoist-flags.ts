/**
 * Lets common options stand before the command (`metier --json list`), as people type them: they are moved behind it,
 * where the parser expects them.
 */
import { COMMON_FLAGS } from "./common-flags.ts";

export function hoistFlags(args: readonly string[]): readonly string[] {
  const leading: string[] = [];
  let index = 0;
  while (index < args.length) {
    const arg = args[index] ?? "";
    const name = arg.startsWith("--") ? arg.slice(2).split("=")[0] : undefined;
    if (name === undefined || !Object.hasOwn(COMMON_FLAGS, name)) break;
    const takesValue = name !== "json" && !arg.includes("=");
    leading.push(...args.slice(index, index + (takesValue ? 2 : 1)));
    index += takesValue ? 2 : 1;
  }
  const rest = args.slice(index);
  const end = rest.indexOf("--");
  return end === -1 ? [...rest, ...leading] : [...rest.slice(0, end), ...leading, ...rest.slice(end)];
}
