/** The programs of Metier that run inside a sandbox: where they lie outside, and how one of them is started inside. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFolder } from "../host/package-folder.ts";
import { BIN, INSIDE } from "./inside/places.ts";

interface InsideFolder {
  readonly folder: string;
  /** Of a program's file. */
  readonly ending: ".ts" | ".mjs";
}

let known: InsideFolder | undefined;

/** Sources lie beside this file; built code stands at several depths, and `dist/inside` serves all of it. */
function findInside(): InsideFolder {
  const sources = join(dirname(fileURLToPath(import.meta.url)), "inside");
  if (existsSync(join(sources, "metier-sb.ts"))) return { folder: sources, ending: ".ts" };
  return { folder: join(packageFolder() ?? "/", "dist", "inside"), ending: ".mjs" };
}

/** To be bound at `INSIDE`. */
export function insideFolder(): string {
  known ??= findInside();
  return known.folder;
}

/** The words that start a program inside, as `insideCommand("metier-sb")`. */
export function insideCommand(program: string): readonly string[] {
  known ??= findInside();
  // What Node warns of when it strips types differs between versions, and is nothing to the command.
  return [join(BIN, "node"), "--no-warnings", join(INSIDE, `${program}${known.ending}`)];
}

/** Where a program lies outside, for a command that must start under every backend: its folder is then made readable. */
export function insideFile(program: string): string {
  known ??= findInside();
  return join(known.folder, `${program}${known.ending}`);
}
