/** What is said when a skill is installed or removed, and a folder that belongs to it could or must not be changed. */
import type { Diagnostic } from "../foundation/diagnostic.ts";

/** The answer of `act`, or what went wrong with it. */
export function attempt(path: string, act: () => readonly Diagnostic[] | undefined): readonly Diagnostic[] {
  try {
    return act() ?? [];
  } catch (fault) {
    const message = `\`${path}\` could not be changed: ${(fault as Error).message}.`;
    const hint = "Make it writable, then run `metier install`.";
    return [{ code: "install.unfinished", severity: "warning", path, message, hint }];
  }
}

export function reportKept(path: string): Diagnostic {
  return {
    code: "install.kept",
    severity: "warning",
    path,
    message: `\`${path}\` was changed since Metier put it there, so it stays.`,
    hint: "Remove it yourself if you do not want it, or use `--force`.",
  };
}
