/** Opens an address in the user's browser. If that fails, the user still has the address. */
import { createOutsideFinder } from "@metier/base/programs";
import type { Metier } from "@metier/runtime";
import type { CliContext } from "../context.ts";

interface Opener {
  readonly name: string;
  args(address: string): readonly string[];
}

const OPENERS: Partial<Record<NodeJS.Platform, Opener>> = {
  darwin: { name: "open", args: (address) => [address] },
  linux: { name: "xdg-open", args: (address) => [address] },
  win32: { name: "explorer", args: (address) => [address] },
};

/** It hands the address over and ends, or is the browser itself, which people close when they want. */
const LIMITS = { timeoutMs: 60_000, maxOutputBytes: 0 };

/** Whether there is a screen to show it on. */
export function hasDisplay(
  { io }: Pick<CliContext, "io">,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = io.environment;
  if (platform === "linux") return Boolean(DISPLAY || WAYLAND_DISPLAY);
  return OPENERS[platform] !== undefined && !SSH_CONNECTION;
}

/** Starts no program from inside the project, because the project's author could choose it. */
export async function openBrowser(
  { io }: CliContext,
  { project, places }: Pick<Metier, "project" | "places">,
  address: string,
): Promise<void> {
  const opener = OPENERS[process.platform];
  const find = createOutsideFinder(io.environment, { project: project.root, home: places.home });
  const program = opener && find(opener.name);
  if (opener === undefined || program === undefined) return;
  const { runProcess } = await import("@metier/sandbox");
  const env = Object.fromEntries(
    Object.entries(io.environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  await runProcess({ program, args: opener.args(address), env, limits: LIMITS, outlivesUs: true });
}
