/**
 * What every sandboxed program finds in any world: the machine's programs, devices, and a `/proc` without the machine's
 * data. It is the same for all commands, so it can be prepared before a command is known.
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

/** Links into `/usr` on most systems, real folders on some. */
const SYSTEM_LINKS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** What programs need besides `/usr`, if it exists. None of these holds a key or names a user. */
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

/** The user id inside: the user's own, but never root's. */
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
  /** Mounted read-only and first on PATH. */
  readonly programs: BroughtPrograms;
}

/** Passes content to bubblewrap; returns its descriptor number. */
export type Hand = (content: string | Uint8Array) => string;

/**
 * Bubblewrap's arguments that build it at `root`: empty, or a folder. A file written there needs no mount and is just
 * as read-only, since the root becomes read-only at the end.
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

/** The machine paths that this mounts: if one is replaced, the mount still shows the old one. */
export function baseSources({ programs }: BaseParts): readonly string[] {
  return ["/usr", ...SYSTEM_FILES, ...Object.values(programs.files), ...programs.folders, insideFolder()];
}

export function writeFile(path: string, descriptor: string, mode = "0444"): readonly string[] {
  return ["--perms", mode, "--file", descriptor, path];
}

/** They do not change while we run. */
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

/** The arguments for those that exist on this machine. */
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
 * Parts of `/proc` that a sandboxed program must not reach. The kernel protects most of them from unprivileged users,
 * but not from root, and a run started by root is root to those files, whatever its id inside: it could set the program
 * that the machine starts at a crash.
 */

/** Memory, keys and messages of the whole machine. */
const HIDDEN = `kcore key-users keys kmsg kpagecgroup kpagecount kpageflags latency_stats pagetypeinfo sched_debug slabinfo
  timer_list vmallocinfo vmcore`;

/** The kernel's own files do not change while it runs. */
const hidden = once(() => findPaths(HIDDEN));

/**
 * Bubblewrap's arguments that follow `--proc`. Machine settings, which `--proc` alone leaves writable for root, are
 * spread over it, so all of it is read-only.
 */
export function guardProc(root: string): readonly string[] {
  return [
    ...["--remount-ro", `${root}/proc`],
    ...hidden().flatMap((path) => ["--ro-bind", "/dev/null", `${root}${path}`]),
    ...hideProcess(1, root),
  ];
}

/**
 * The first process inside is bubblewrap itself. Whoever writes to its memory could fake the end of the command and
 * live on, and its program file is the machine's.
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
