/** How much of a skill a response contains: a hostile one must not fill the reader's memory. */

import { isAbsolute, relative, sep } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isInside } from "@metier/base/places";
import type { ApiDiagnostic } from "../api.ts";

export const MOST_SKILLS = 20_000;
export const MOST_FILES = 5_000;
const MOST_DIAGNOSTICS = 500;
/** Of a file's text. */
export const MOST_TEXT_BYTES: number = 256 * 1024;
export const MOST_INSTRUCTIONS = 512 * 1024;
export const MOST_DESCRIPTION = 2_000;
const MOST_MESSAGE = 2_000;

export function boundText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** With a path below the folder, or none. */
function showDiagnostic(diagnostic: Diagnostic, folder: string): ApiDiagnostic {
  const { path, message, hint, line, column, ...rest } = diagnostic;
  const isBelow = folder !== "" && isAbsolute(path) && path !== folder && isInside(path, folder);
  return {
    ...rest,
    message: boundText(message, MOST_MESSAGE),
    ...(hint !== undefined && { hint: boundText(hint, MOST_MESSAGE) }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(isBelow && { path: relative(folder, path).split(sep).join("/") }),
  };
}

export function showDiagnostics(found: readonly Diagnostic[], folder: string): readonly ApiDiagnostic[] {
  return found.slice(0, MOST_DIAGNOSTICS).map((diagnostic) => showDiagnostic(diagnostic, folder));
}
