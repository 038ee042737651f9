/** One config file: absent, broken with the reason and the line, or taken apart. Never throws for what it finds. */
import { lstatSync, readFileSync, statSync } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import {
  type ConfigDocument,
  ConfigSyntaxError,
  formatOf,
  parseConfigDocument,
} from "./formats/config-document.ts";

const MOST_BYTES = 256 * 1024;

export type ConfigReading =
  | { readonly status: "absent" }
  | { readonly status: "broken"; readonly diagnostic: Diagnostic }
  | { readonly status: "loaded"; readonly document: ConfigDocument; readonly bytes: Buffer };

export async function readConfigFile(file: string): Promise<ConfigReading> {
  const found = readBytes(file);
  if (found === undefined) return { status: "absent" };
  if (typeof found === "string") return { status: "broken", diagnostic: unreadable(file, found) };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(found);
    return { status: "loaded", document: await parseConfigDocument(text, formatOf(file)), bytes: found };
  } catch (fault) {
    return { status: "broken", diagnostic: broken(file, toSyntaxError(fault)) };
  }
}

/** The bytes, `undefined` when there is no file, or the reason why it cannot be read. */
function readBytes(file: string): Buffer | string | undefined {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) return "it is not a regular file";
    if (stats.size > MOST_BYTES) return `it has ${stats.size} bytes, and at most ${MOST_BYTES} are read`;
    return readFileSync(file);
  } catch (fault) {
    const { code = "unknown" } = fault as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") return `the system says ${code}`;
    return lstatSync(file, { throwIfNoEntry: false }) ? "it is a link that leads nowhere" : undefined;
  }
}

function toSyntaxError(fault: unknown): ConfigSyntaxError {
  if (fault instanceof ConfigSyntaxError) return fault;
  if (fault instanceof TypeError) return new ConfigSyntaxError("it is not UTF-8");
  throw fault;
}

function unreadable(file: string, reason: string): Diagnostic {
  return {
    code: "config.unreadable",
    severity: "error",
    message: `The config file \`${file}\` cannot be read: ${reason}.`,
    path: file,
    hint: "Make it a readable text file, or remove it; until then it is skipped.",
  };
}

function broken(file: string, { message, position }: ConfigSyntaxError): Diagnostic {
  const where = position ? ` at line ${position.line}, column ${position.column}` : "";
  return {
    code: "config.broken",
    severity: "error",
    message: `The config file \`${file}\` is not valid ${formatOf(file).toUpperCase()}${where}: ${message}.`,
    path: file,
    ...position,
    hint: "Repair that line; until then the whole file is skipped.",
  };
}
