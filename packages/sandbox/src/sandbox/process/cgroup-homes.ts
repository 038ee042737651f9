/**
 * Where Metier may create control groups for its commands: in its own group if that is the top of the mount, or in one
 * delegated to this user. Groups that a service manager keeps for itself are left alone, even by root.
 */
import { mkdirSync, readdirSync, readlinkSync, rmdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isAlive } from "@metier/base/programs";
import { killGroup } from "./kernel-limits.ts";
import { readText } from "./process-tree.ts";

export type Controller = "pids" | "memory";

export interface CgroupHome {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  readonly folder: string;
  /** Metier's groups that a command leaves when it moves here; their limits still apply to it. */
  readonly passed: readonly string[];
}

interface Mount {
  readonly type: string;
  /** The group that is mounted, and where. */
  readonly root: string;
  readonly point: string;
  readonly options: readonly string[];
}

const CONTROLLERS: readonly Controller[] = ["pids", "memory"];

let known: readonly CgroupHome[] | undefined;

/** Found once: a machine does not change while we run. */
export function cgroupHomes(): readonly CgroupHome[] {
  known ??= findCgroupHomes();
  return known;
}

/** Empty if there are no control groups, or none that we may divide. */
export function findCgroupHomes(
  processFolder = "/proc/self",
  user: number | undefined = process.getuid?.(),
): readonly CgroupHome[] {
  const mounts = readLines(join(processFolder, "mountinfo")).map(readMount);
  const homes = readLines(join(processFolder, "cgroup")).flatMap((line) => {
    const [, names = "", ...path] = line.split(":");
    const own = path.join(":");
    return names === "" ? homesOfVersion2(mounts, own, user) : homesOfVersion1(mounts, names.split(","), own);
  });
  const usable = homes.filter(({ folder }) => canMakeGroups(folder));
  for (const { folder } of usable) removeAbandoned(folder);
  return usable;
}

/** Groups created by this thread. */
let made = 0;

/** The prefix of this thread's group names; process ids differ between container namespaces, so both are used. */
export function groupPrefix(): string {
  const { threadId } = process.getBuiltinModule("node:worker_threads");
  return `metier-${processNamespace()}-${process.pid}-${threadId}-`;
}

/** A unique name. */
export function nameGroup(): string {
  made += 1;
  return `${groupPrefix()}${made}`;
}

function homesOfVersion1(mounts: readonly Mount[], names: readonly string[], own: string): CgroupHome[] {
  const controllers = CONTROLLERS.filter((name) => names.includes(name));
  const mount = mounts.find(
    ({ type, options }) => type === "cgroup" && names.every((n) => options.includes(n)),
  );
  if (controllers.length === 0 || !mount || mount.root !== own) return [];
  return [{ version: 1, controllers, folder: mount.point, passed: [] }];
}

/**
 * A group with processes in it cannot be divided, and our own always has one. So this looks for a group next to or
 * around it that its manager set up for that.
 */
function homesOfVersion2(mounts: readonly Mount[], own: string, user: number | undefined): CgroupHome[] {
  const mount = mounts.find(({ type }) => type === "cgroup2");
  const below = mount && relative(mount.root, own);
  if (!mount || below === undefined || below.startsWith("..")) return [];
  const passed: string[] = [];
  for (let folder = join(mount.point, below); isOurs(folder, mount, user); folder = dirname(folder)) {
    const divided = readLines(join(folder, "cgroup.subtree_control")).join(" ").split(" ");
    const controllers = CONTROLLERS.filter((name) => divided.includes(name));
    if (controllers.length > 0) return [{ version: 2, controllers, folder, passed }];
    if (folder === mount.point) break;
    passed.push(folder);
  }
  return [];
}

/** Delegating a group to a user makes them its owner; root could write to all groups, which proves nothing. */
function isOurs(folder: string, { point }: Mount, user: number | undefined): boolean {
  if (folder === point) return true;
  return user !== 0 && statSync(folder, { throwIfNoEntry: false })?.uid === user;
}

/** By creating one. */
function canMakeGroups(folder: string): boolean {
  const group = join(folder, nameGroup());
  try {
    mkdirSync(group);
    rmdirSync(group);
    return true;
  } catch {
    return false; // Read-only, someone else's, or at the maximum number.
  }
}

/** Groups of killed Metier processes. */
function removeAbandoned(home: string): void {
  const start = `metier-${processNamespace()}-`;
  for (const name of readdirSync(home)) {
    const pid = Number(name.slice(start.length).split("-")[0]);
    if (!name.startsWith(start) || isAlive(pid)) continue;
    try {
      killGroup(join(home, name));
      rmdirSync(join(home, name));
    } catch {
      // Another Metier was faster, or something in it is still ending: the next one finds it.
    }
  }
}

function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  } catch {
    return "0"; // A kernel without them has one for all.
  }
}

/** `36 35 98:0 /root /point options - type source options of the file system`, with spaces as `\040`. */
function readMount(line: string): Mount {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root = "", point = ""] = before.split(" ").map(unescapeOctal);
  const [type = "", , options = ""] = after.split(" ");
  return { type, root, point, options: options.split(",") };
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_whole, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}

function readLines(file: string): readonly string[] {
  return readText(file).split("\n").filter(Boolean);
}
