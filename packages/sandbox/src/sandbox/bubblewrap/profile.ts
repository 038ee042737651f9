/**
 * The hardened bubblewrap profile as data: what a sandboxed program finds, besides the folders of its world and as these,
 * and the arguments that make it so. Reads the disk only to see what kind of thing each path is; starts nothing.
 */
import { type Dirent, existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { BIN, CAPABILITY_SOCKET, EGRESS_SOCKET, INSIDE } from "../inside/protocol.ts";
import { CLIENT_NAMES, insideCommand, insideFolder } from "../inside-programs.ts";
import { type BroughtPrograms, searchPath } from "../programs.ts";
import { minimalEnvironment, type SandboxCommand } from "../sandbox.ts";
import {
  type Access,
  outerFirst,
  type PlacedFolder,
  type World,
  type WorldRules,
  worldRules,
} from "../world/world.ts";

const MEGABYTE = 1024 * 1024;
const TEMPORARY_BYTES = 256 * MEGABYTE;
const SHARED_MEMORY_BYTES = 64 * MEGABYTE;

/** No privilege, no other process, no network, no terminal, no way to get any of them, and no life after ours. */
const ISOLATION = [
  ...["--unshare-all", "--unshare-user", "--disable-userns"],
  ...["--cap-drop", "ALL", "--new-session", "--die-with-parent"],
  ...["--hostname", "metier", "--clearenv"],
];

/** Links into `/usr` on most systems, folders of their own on some. */
const SYSTEM_LINKS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** What programs need besides `/usr`, where it exists. Nothing here holds a key or names a user. */
export const SYSTEM_FILES: readonly string[] = [
  "/nix/store",
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/pki/tls/certs",
  "/etc/pki/ca-trust/extracted",
];

const DEVICES = [
  ...["--dev", "/dev"],
  ...["--size", String(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"],
  ...["--remount-ro", "/dev"],
  ...["--size", String(TEMPORARY_BYTES), "--perms", "1777", "--tmpfs", "/tmp"],
];

/** Whose the processes are inside: the user's own number, but never root's. */
interface SandboxIdentity {
  readonly uid: number;
  readonly gid: number;
}

const ORDINARY_ID = 1000;

export function sandboxIdentity(): SandboxIdentity {
  const uid = process.getuid?.() || ORDINARY_ID;
  return { uid, gid: process.getgid?.() || ORDINARY_ID };
}

interface ProfileParts {
  readonly command: SandboxCommand;
  /** The world's own, or as it is now: `refreshWorld`. */
  readonly world: World;
  readonly identity: SandboxIdentity;
  /** Bound read-only and first on PATH. */
  readonly programs: BroughtPrograms;
  /** Absent where the filter for this machine is not known. */
  readonly seccomp?: Uint8Array | undefined;
}

interface Profile {
  /** For `--args`: they hold the environment and must not stand on a command line, which everyone can read. */
  readonly args: readonly string[];
  /** The descriptors that `args` refers to, from `firstDescriptor` on. */
  readonly handed: readonly (string | Uint8Array)[];
}

export function buildProfile(parts: ProfileParts, firstDescriptor: number): Profile {
  const { command, world, identity, programs, seccomp } = parts;
  const handed: (string | Uint8Array)[] = [];
  const hand = (content: string | Uint8Array): string => String(firstDescriptor + handed.push(content) - 1);
  const file = (path: string, content: string): string[] => ["--ro-bind-data", hand(content), path];
  const { uid, gid } = identity;
  const environment = { path: searchPath([BIN], programs), temporary: "/tmp" };
  const client = `#!/bin/sh\nexec ${insideCommand("metier-sb").join(" ")} "$@"\n`;
  // What else skills call it where it has capabilities.
  const clientNames = command.capabilitySocket === undefined ? ["metier-sb"] : CLIENT_NAMES;
  const args = [
    ...ISOLATION,
    ...["--uid", String(uid), "--gid", String(gid)],
    ...(seccomp ? ["--seccomp", hand(seccomp)] : []),
    ...["--ro-bind", "/usr", "/usr"],
    ...mountSystemLinks(),
    ...SYSTEM_FILES.flatMap((path) => ["--ro-bind-try", path, path]),
    ...file("/etc/passwd", `metier:x:${uid}:${gid}:metier:${world.workDir}:/bin/sh\n`),
    ...file("/etc/group", `metier:x:${gid}:\n`),
    ...file("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    ...Object.entries(programs.files).flatMap(([name, path]) => ["--ro-bind", path, join(BIN, name)]),
    ...["--ro-bind", insideFolder(), INSIDE],
    ...clientNames.flatMap((name) => ["--perms", "0555", ...file(join(BIN, name), client)]),
    ...(command.egressSocket === undefined ? [] : ["--ro-bind", command.egressSocket, EGRESS_SOCKET]),
    ...(command.capabilitySocket === undefined
      ? []
      : ["--ro-bind", command.capabilitySocket, CAPABILITY_SOCKET]),
    ...["--proc", "/proc", ...guardProc()],
    ...DEVICES,
    ...programs.folders.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...mountWorld(world),
    ...["--remount-ro", "/"],
    ...Object.entries({ ...minimalEnvironment(world, environment), ...command.env }).flatMap(
      ([name, value]) => ["--setenv", name, value],
    ),
    ...["--chdir", command.cwd ?? world.cwd],
  ];
  return { args, handed };
}

let systemLinks: readonly string[] | undefined;

/** They stay as they are while we run. */
function mountSystemLinks(): readonly string[] {
  systemLinks ??= SYSTEM_LINKS.flatMap(mountSystemLink);
  return systemLinks;
}

function mountSystemLink(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return ["--symlink", readlinkSync(path), path];
  return found ? ["--ro-bind", path, path] : [];
}

/** The world's rules as mounts, outer ones first, so that the innermost decides here as it does in the path gate. */
function mountWorld(world: World): string[] {
  const mounts: string[] = [];
  const closed: string[] = [];
  for (const [path, access] of withPins(world)) {
    if (access !== "none") {
      const placed = placedIn(world, path);
      if (placed.length > 0) {
        mounts.push(...mountWithPlaced(path, placed));
        closed.push("--remount-ro", path);
      } else mounts.push(access === "write" ? "--bind" : "--ro-bind", path, path);
      continue;
    }
    const kind = kindOf(path);
    if (kind === "folder") {
      mounts.push("--tmpfs", path);
      closed.push("--remount-ro", path); // At the end: what is visible inside must be mounted first.
    } else if (kind === "file") mounts.push("--ro-bind", "/dev/null", path);
  }
  return [...mounts, ...closed];
}

/** What a mask must cover; a link is none, since what it leads to is masked itself. */
function kindOf(path: string): "file" | "folder" | undefined {
  try {
    const found = lstatSync(path);
    return found.isDirectory() ? "folder" : found.isSymbolicLink() ? undefined : "file";
  } catch {
    return undefined; // There is nothing, or nothing that this user could read.
  }
}

/**
 * What is read-only in a writable folder could be replaced by renaming a folder around it (`.git`), and a mount cannot
 * be renamed: so that folder becomes one. A mask is left out where nothing around it is visible anyway.
 */
function withPins(world: World): WorldRules {
  const rules = worldRules(world);
  const guarded = new Set(world.protectedPaths);
  const mounts = new Map<string, Access>();
  for (const [path, access] of rules) {
    const around = accessAround(rules, path);
    if (access === "none" && around === "none") continue;
    mounts.set(path, access);
    const isFixed = around === "write" && (access === "read" || guarded.has(path));
    if (isFixed && !rules.has(dirname(path))) mounts.set(dirname(path), "write");
  }
  return outerFirst(mounts);
}

function accessAround(rules: WorldRules, path: string): Access {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const access = rules.get(folder);
    if (access !== undefined) return access;
    if (folder === dirname(folder)) return "none";
  }
}

/*
 * Placed folders: those that the commands of a run see at another path than their own. Nothing is written into the folder
 * they appear in: an empty one stands in its place, with each of its entries and the placed folders mounted into it. The
 * file tools do not see them: they are for programs, and no part of the skill.
 */

/** Those that appear directly in `folder`. */
function placedIn({ placed = [] }: World, folder: string): readonly PlacedFolder[] {
  return placed.filter(({ at }) => dirname(at) === folder);
}

/** Arguments of bubblewrap that show `folder` read-only with these in it; it is to be remounted read-only at the end. */
function mountWithPlaced(folder: string, placed: readonly PlacedFolder[]): readonly string[] {
  try {
    const covered = new Set(placed.map(({ at }) => basename(at)));
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !covered.has(name));
    return [
      ...["--tmpfs", folder],
      ...entries.flatMap((entry) => mountEntry(entry, join(folder, entry.name))),
      ...placed.flatMap(({ from, at }) => ["--ro-bind", from, at]),
    ];
  } catch {
    return ["--ro-bind", folder, folder]; // It is gone, or not for us: bubblewrap refuses, and says so.
  }
}

function mountEntry(entry: Dirent, path: string): readonly string[] {
  return entry.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind-try", path, path];
}

/*
 * What of `/proc` a sandboxed program does not get. The kernel keeps most of it from who has no privileges, but not from
 * root, and a run that root starts is root to those files, whatever number it shows inside: it could set the program that
 * the machine starts at a crash.
 */

/** Settings of the machine: `--proc` alone leaves them to root. */
const READ_ONLY = "acpi bus driver fs irq mtrr pressure scsi sys sysrq-trigger";

/** Memory, keys and messages of the whole machine. */
const HIDDEN = `kcore key-users keys kmsg kpagecgroup kpagecount kpageflags latency_stats pagetypeinfo sched_debug slabinfo
  timer_list vmallocinfo vmcore`;

/**
 * Inside, the first process is bubblewrap itself. Whoever writes to its memory can have it say that the command has ended
 * and live on, and its program file is that of the machine.
 */
const FIRST_PROCESS = ["--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"];

/** Bubblewrap's arguments, to come after `--proc /proc`. */
export function guardProc(): readonly string[] {
  guarded ??= [
    ...paths(READ_ONLY).flatMap((path) => ["--ro-bind", path, path]),
    ...paths(HIDDEN).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...FIRST_PROCESS,
  ];
  return guarded;
}

/** The kernel's own files do not change while it runs. */
let guarded: readonly string[] | undefined;

function paths(names: string): readonly string[] {
  return names
    .split(/\s+/)
    .map((name) => join("/proc", name))
    .filter((path) => existsSync(path));
}
