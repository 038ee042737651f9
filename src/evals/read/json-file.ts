/** A JSON file of an author nobody has to trust, with the line of everything in it. What is wrong is a diagnostic. */
import type { ConfigSyntaxError } from "../../config/formats/config-document.ts";
import { parseLocatedJson } from "../../config/formats/json-document.ts";
import type { Diagnostic, Severity } from "../../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../../foundation/diagnostic-codes.ts";
import { readBounded } from "../../host/read-bounded.ts";

const MOST_BYTES = 4 * 1024 * 1024;

export interface FoundFault {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint: string;
}

export interface JsonFile {
  readonly value: unknown;
  /** A diagnostic that stands where the value at `path` does, or the nearest one above it. */
  report(path: readonly string[], fault: FoundFault): Diagnostic;
}

export type JsonFileReading =
  | { readonly ok: true; readonly file: JsonFile }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export function readJsonFile(path: string): JsonFileReading {
  const code = "eval.unreadable";
  const read = readBounded(path, MOST_BYTES);
  if (!read.ok) {
    const hint = "Make it a readable JSON file of at most 4 MiB.";
    return { ok: false, diagnostic: { code, severity: "error", path, message: read.message, hint } };
  }
  try {
    const { value, locate } = parseLocatedJson(read.text.replace(/^\uFEFF/, ""));
    return {
      ok: true,
      file: { value, report: (at, fault) => ({ ...fault, path, ...(locate(at) ?? { line: 1, column: 1 }) }) },
    };
  } catch (fault) {
    const { message: detail, position } = fault as ConfigSyntaxError;
    const message = `\`${path}\` is no JSON: ${detail}.`;
    return {
      ok: false,
      diagnostic: { code, severity: "error", path, message, ...position, hint: "Correct it there." },
    };
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text with something in it. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
