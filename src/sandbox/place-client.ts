/** `metier-sb` for commands that run outside of a sandbox, where nothing is bound: small programs beside the socket. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CLIENT_NAMES } from "./capability-socket.ts";
import { insideFile } from "./inside-programs.ts";
import { quoteWord } from "./quote-word.ts";

/** A folder for the PATH. It lies in the private folder of the socket and goes with it. */
export function placeClient(capabilitySocket: string): string {
  const folder = join(dirname(capabilitySocket), "bin");
  if (existsSync(folder)) return folder;
  const words = [process.execPath, "--no-warnings", insideFile("metier-sb")];
  const text = `#!/bin/sh\nexec ${words.map(quoteWord).join(" ")} "$@"\n`;
  mkdirSync(folder, { mode: 0o700 });
  for (const name of CLIENT_NAMES) writeFileSync(join(folder, name), text, { mode: 0o700 });
  return folder;
}
