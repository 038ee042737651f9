/**
 * What every sandboxed program finds, whatever its world: the machine's programs, devices, a `/proc` with nothing of the
 * machine in it. It is the same for all commands, so that it can be made before a command is known.
 */
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { once } from "@metier/base/turns";
import { BIN, INSIDE } from "../inside/protocol.ts";
import { insideCommand, insideFolder } from "../inside-programs.ts";
import type { BroughtPrograms } from "../programs.ts";

const MEGABYTE = 1024 * 1024;
const TEMPORARY_BYTES = 256 * MEGABYTE;
const SHARED_MEMORY_BYTES = 64 * MEGABYTE;

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

/** Whose the processes are inside: the user's own number, but never root's. */
export interface SandboxIdentity {
  readonly uid: number;
  readonly gid: number;
}

const ORDINARY_ID = 1000;

export function sandboxIdentity(): SandboxIdentity {
  const uid = process.getuid?.() || ORDINARY_ID;
  return { uid, gid: process.getgid?.() || ORDINARY_ID };
}

export interface BaseParts {
  readonly identity: SandboxIdentity;
  /** Bound read-only and first on PATH. */
  readonly programs: BroughtPrograms;
}

/** Hands a content to bubblewrap; the answer is the number of its descriptor. */
export type Hand = (content: string | Uint8Array) => string;

/**
 * Bubblewrap's arguments that make it at `root`: nothing, or a folder. A file that is written there costs no mount, and is
 * as read-only as one: the root is made so at the end.
 */
export function mountBase({ identity, programs }: BaseParts, root: string, hand: Hand): readonly string[] {
  const client = `#!/bin/sh\nexec ${insideCommand("metier-sb").join(" ")} "$@"\n`;
  return [
    ...["--ro-bind", "/usr", `${root}/usr`],
    ...mountSystemLinks(root),
    ...SYSTEM_FILES.flatMap((path) => ["--ro-bind-try", path, `${root}${path}`]),
    ...writeFile(`${root}/etc/group`, hand(`metier:x:${identity.gid}:\n`)),
    ...writeFile(`${root}/etc/hosts`, hand("127.0.0.1 localhost\n::1 localhost\n")),
    ...Object.entries(programs.files).flatMap(([name, path]) => ["--ro-bind", path, join(root, BIN, name)]),
    ...["--ro-bind", insideFolder(), `${root}${INSIDE}`],
    ...writeFile(join(root, BIN, "metier-sb"), hand(client), "0555"),
    ...["--proc", `${root}/proc`, ...guardProc(root)],
    ...mountDevices(root),
    ...programs.folders.flatMap((folder) => ["--ro-bind", folder, `${root}${folder}`]),
  ];
}

/** What of the machine is mounted by that: when one of these is replaced, what was mounted is the old one. */
export function baseSources({ programs }: BaseParts): readonly string[] {
  return ["/usr", ...SYSTEM_FILES, ...Object.values(programs.files), ...programs.folders, insideFolder()];
}

export function writeFile(path: string, descriptor: string, mode = "0444"): readonly string[] {
  return ["--perms", mode, "--file", descriptor, path];
}

/** They stay as they are while we run. */
const systemLinks = once(() => SYSTEM_LINKS.flatMap(findSystemLink));

function findSystemLink(path: string): readonly SystemLink[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  return [{ path, option: found.isSymbolicLink() ? ["--symlink", readlinkSync(path)] : ["--ro-bind", path] }];
}

interface SystemLink {
  readonly path: string;
  readonly option: readonly string[];
}

/** The arguments for those that this machine has. */
function mountSystemLinks(root: string): readonly string[] {
  return systemLinks().flatMap(({ path, option }) => [...option, `${root}${path}`]);
}

function mountDevices(root: string): readonly string[] {
  return [
    ...["--dev", `${root}/dev`],
    ...["--size", String(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", `${root}/dev/shm`],
    ...["--remount-ro", `${root}/dev`],
    ...["--size", String(TEMPORARY_BYTES), "--perms", "1777", "--tmpfs", `${root}/tmp`],
  ];
}

/*
 * What of `/proc` a sandboxed program does not get. The kernel keeps most of it from who has no privileges, but not from
 * root, and a run that root starts is root to those files, whatever number it shows inside: it could set the program that
 * the machine starts at a crash.
 */

/** Memory, keys and messages of the whole machine. */
const HIDDEN = `kcore key-users keys kmsg kpagecgroup kpagecount kpageflags latency_stats pagetypeinfo sched_debug slabinfo
  timer_list vmallocinfo vmcore`;

/** The kernel's own files do not change while it runs. */
const hidden = once(() => findPaths(HIDDEN));

/**
 * Bubblewrap's arguments, to come after `--proc`. Settings of the machine, which `--proc` alone leaves to root, are in many
 * places of it: all of it is read-only.
 */
export function guardProc(root: string): readonly string[] {
  return [
    ...["--remount-ro", `${root}/proc`],
    ...hidden().flatMap((path) => ["--ro-bind", "/dev/null", `${root}${path}`]),
    ...hideProcess(1, root),
  ];
}

/**
 * Inside, the first process is bubblewrap itself. Whoever writes to its memory can have it say that the command has ended
 * and live on, and its program file is that of the machine.
 */
export function hideProcess(number: number, root: string): readonly string[] {
  const path = `${root}/proc/${number}`;
  return ["--size", "4096", "--tmpfs", path, "--remount-ro", path];
}

function findPaths(names: string): readonly string[] {
  return names
    .split(/\s+/)
    .map((name) => join("/proc", name))
    .filter((path) => existsSync(path));
}
