/**
 * The world of a run as a policy of sandbox-runtime, which denies reading by place: everything at the top of the file
 * system but the system's own programs is denied, and the world is let in. Says what of a world it cannot hold.
 */
import { existsSync, readdirSync } from "node:fs";
import { isInside } from "../../host/places.ts";
import { SYSTEM_FILES } from "../bubblewrap-profile.ts";
import type { World } from "../world.ts";
import { worldRules } from "../world-access.ts";
import type { RuntimePolicy } from "./find-package.ts";

/** At the top of the file system: programs and what they need, and nothing of anyone's. */
const SYSTEM_NAMES: ReadonlySet<string> = new Set(
  process.platform === "darwin"
    ? ["System", "Library", "usr", "bin", "sbin", "dev"]
    : ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "dev", "proc"],
);

/** Of macOS: the shared libraries, time zones and certificates that programs start with. */
const MACOS_FILES = ["/private/var/db/dyld", "/private/var/db/timezone", "/private/etc/ssl"];

/** `brought`: programs and folders of ours that the command needs; `temporary`: its own folder for passing files. */
export function buildRuntimePolicy(
  world: World,
  brought: readonly string[],
  temporary: string,
): RuntimePolicy {
  const rules = [...worldRules(world)];
  const withAccess = (...wanted: readonly string[]): readonly string[] =>
    rules.filter(([, access]) => wanted.includes(access)).map(([path]) => path);
  const writable = withAccess("write");
  const isBelowWritable = (path: string): boolean => writable.some((folder) => isInside(path, folder));
  return {
    denyRead: [...topPlaces(), ...withAccess("none")],
    allowRead: [...withAccess("read", "write"), ...systemFiles(), ...brought, temporary],
    allowWrite: [...writable, temporary],
    denyWrite: withAccess("read", "none").filter(isBelowWritable),
  };
}

/** Why a world cannot be held, or nothing. */
export function whyNotHeld(world: World, { allowWrite, denyWrite }: RuntimePolicy): string | undefined {
  if (world.placed && world.placed.length > 0) {
    return "packages of the skill cannot be shown in its folder";
  }
  const inner = allowWrite.find((path) => denyWrite.some((folder) => isInside(path, folder)));
  return inner && `\`${inner}\` cannot be writable inside of a folder that is not`;
}

function topPlaces(): readonly string[] {
  return readdirSync("/")
    .filter((name) => !SYSTEM_NAMES.has(name))
    .map((name) => `/${name}`);
}

function systemFiles(): readonly string[] {
  return [...SYSTEM_FILES, ...MACOS_FILES].filter((path) => existsSync(path));
}
