/**
 * Metier's programs that run inside a sandbox: where they are outside, how to start one inside, and how `metier-sb`
 * reaches the capabilities.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { layOutCarried, packageFolder, runsFromSources } from "@metier/base/files";
import { CARRIED_INSIDE } from "./carried-inside.ts";
import { BIN, CAPABILITY_SOCKET, INSIDE } from "./inside/protocol.ts";
import { quoteWord, type SandboxBackend } from "./sandbox.ts";

interface InsideFolder {
  readonly folder: string;
  /** The extension of a program's file. */
  readonly ending: ".ts" | ".mjs";
}

let known: InsideFolder | undefined;

/** The package's own files: sources in a clone, otherwise built ones. A bundle carries them. */
function findInside(): InsideFolder {
  const own = packageFolder();
  if (own === undefined) return { folder: layOutCarried("inside", CARRIED_INSIDE), ending: ".mjs" };
  if (runsFromSources()) return { folder: join(own, "../sandbox/src/sandbox/inside"), ending: ".ts" };
  return { folder: join(own, "dist", "inside"), ending: ".mjs" };
}

/** Found once; again if files unpacked for a bundle were deleted. */
function inside(): InsideFolder {
  if (known === undefined || !existsSync(known.folder)) known = findInside();
  return known;
}

/** To be mounted at `INSIDE`. */
export function insideFolder(): string {
  return inside().folder;
}

/** The words that start a program inside, as in `insideCommand("metier-sb")`. */
export function insideCommand(program: string): readonly string[] {
  // Node's warnings about type stripping differ between versions and do not concern the command.
  return [join(BIN, "node"), "--no-warnings", join(INSIDE, `${program}${inside().ending}`)];
}

/** Where a program is outside, for a command that must start under every backend; its folder is made readable. */
export function insideFile(program: string): string {
  const { folder, ending } = inside();
  return join(folder, `${program}${ending}`);
}

/** The names of `metier-sb` for commands with capabilities. */
export const CLIENT_NAMES = ["metier-sb", "ash-sb"] as const;

/**
 * For `METIER_RPC_SOCKET`. `undefined`: this backend's commands reach no socket, so skills have no capabilities there,
 * and `SandboxCommand.capabilitySocket` must not be set.
 */
export function seenCapabilitySocket(backend: SandboxBackend, socket: string): string | undefined {
  if (backend === "bubblewrap") return CAPABILITY_SOCKET;
  return backend === "none" ? socket : undefined;
}

/**
 * `metier-sb` for unsandboxed commands, where nothing is mounted: a folder for the PATH. It is in the socket's private
 * folder and removed with it.
 */
export function placeClient(capabilitySocket: string): string {
  const folder = join(dirname(capabilitySocket), "bin");
  if (existsSync(folder)) return folder;
  const words = [process.execPath, "--no-warnings", insideFile("metier-sb")];
  const text = `#!/bin/sh\nexec ${words.map(quoteWord).join(" ")} "$@"\n`;
  mkdirSync(folder, { mode: 0o700 });
  for (const name of CLIENT_NAMES) writeFileSync(join(folder, name), text, { mode: 0o700 });
  return folder;
}
