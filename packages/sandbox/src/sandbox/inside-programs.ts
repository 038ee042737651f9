/**
 * The programs of Metier that run inside a sandbox: where they lie outside, how one of them is started inside, and how
 * `metier-sb` reaches the capabilities.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { layOutCarried, packageFolder, runsFromSources } from "@metier/base/files";
import { CARRIED_INSIDE } from "./carried-inside.ts";
import { BIN, CAPABILITY_SOCKET, INSIDE } from "./inside/protocol.ts";
import { quoteWord, type SandboxBackend } from "./sandbox.ts";

interface InsideFolder {
  readonly folder: string;
  /** Of a program's file. */
  readonly ending: ".ts" | ".mjs";
}

let known: InsideFolder | undefined;

/** The package's own files: sources in a clone, built ones elsewhere. A bundle carries them with it. */
function findInside(): InsideFolder {
  const own = packageFolder();
  if (own === undefined) return { folder: layOutCarried("inside", CARRIED_INSIDE), ending: ".mjs" };
  if (runsFromSources()) return { folder: join(own, "../sandbox/src/sandbox/inside"), ending: ".ts" };
  return { folder: join(own, "dist", "inside"), ending: ".mjs" };
}

/** Found once; again where what was laid out for a bundle has been cleared away. */
function inside(): InsideFolder {
  if (known === undefined || !existsSync(known.folder)) known = findInside();
  return known;
}

/** To be bound at `INSIDE`. */
export function insideFolder(): string {
  return inside().folder;
}

/** The words that start a program inside, as `insideCommand("metier-sb")`. */
export function insideCommand(program: string): readonly string[] {
  // What Node warns of when it strips types differs between versions, and is nothing to the command.
  return [join(BIN, "node"), "--no-warnings", join(INSIDE, `${program}${inside().ending}`)];
}

/** Where a program lies outside, for a command that must start under every backend: its folder is then made readable. */
export function insideFile(program: string): string {
  const { folder, ending } = inside();
  return join(folder, `${program}${ending}`);
}

/** Under these names `metier-sb` is found where a command has capabilities. */
export const CLIENT_NAMES = ["metier-sb", "ash-sb"] as const;

/**
 * For `METIER_RPC_SOCKET`. Nothing: commands of this backend reach no socket, so a skill has no capabilities there, and
 * `SandboxCommand.capabilitySocket` is not to be set.
 */
export function seenCapabilitySocket(backend: SandboxBackend, socket: string): string | undefined {
  if (backend === "bubblewrap") return CAPABILITY_SOCKET;
  return backend === "none" ? socket : undefined;
}

/** `metier-sb` for commands outside of a sandbox, where nothing is bound: a folder for the PATH. It lies in the private folder of the socket and goes with it. */
export function placeClient(capabilitySocket: string): string {
  const folder = join(dirname(capabilitySocket), "bin");
  if (existsSync(folder)) return folder;
  const words = [process.execPath, "--no-warnings", insideFile("metier-sb")];
  const text = `#!/bin/sh\nexec ${words.map(quoteWord).join(" ")} "$@"\n`;
  mkdirSync(folder, { mode: 0o700 });
  for (const name of CLIENT_NAMES) writeFileSync(join(folder, name), text, { mode: 0o700 });
  return folder;
}
