/**
 * The hardened bubblewrap profile as data: arguments for what every program needs and for the folders of a command's
 * world. Either in one bubblewrap call, or in two nested ones, of which the outer knows nothing about the command and
 * is prepared ahead (`made-ahead.ts`). Starts nothing.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BIN, CAPABILITY_SOCKET, EGRESS_SOCKET } from "../inside/protocol.ts";
import { CLIENT_NAMES } from "../inside-programs.ts";
import { searchPath } from "../programs.ts";
import { minimalEnvironment, type SandboxCommand } from "../sandbox.ts";
import type { World } from "../world/world.ts";
import {
  type BaseParts,
  type Hand,
  hideProcess,
  mountBase,
  type SandboxIdentity,
  writeFile,
} from "./base-mounts.ts";
import { mountWorld } from "./world-mounts.ts";

/** Dies with us, and has no terminal. */
const ENDS_WITH_US = ["--new-session", "--die-with-parent"];
/** Sees no other process, network or host name. */
const APART = ["--unshare-all", "--unshare-user", "--hostname", "metier"];
/** No privileges, no way to get any, and nothing from our environment. */
const UNPRIVILEGED = ["--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--clearenv"];

interface ProfileParts extends BaseParts {
  readonly command: SandboxCommand;
  /** The world's own, or refreshed: `refreshWorld`. */
  readonly world: World;
  /** Absent if there is no filter for this machine. */
  readonly seccomp?: Uint8Array | undefined;
}

interface Profile {
  /** For `--args`: they contain the environment, which must not be on a command line that everyone can read. */
  readonly args: readonly string[];
  /** The descriptors that `args` refers to, starting at `firstDescriptor`. */
  readonly handed: readonly (string | Uint8Array)[];
}

/** Everything in one call. */
export function buildProfile(parts: ProfileParts, firstDescriptor: number): Profile {
  return profileOf(firstDescriptor, (hand) => [
    ...[...APART, ...UNPRIVILEGED, ...ENDS_WITH_US],
    ...identify(parts.identity),
    ...mountBase(parts, "", hand),
    ...admitCommand(parts, "", hand),
  ]);
}

/*
 * In two calls. The outer one creates the namespaces and everything common to all commands in a folder, next to the
 * machine's root. The inner one makes that folder its root, mounts the world and drops everything else, so the
 * machine's root is not in the command's namespace. Processes in the outer namespace do see it; the kernel keeps the
 * command away from them because they are in an outer user namespace, and they are hidden.
 */

const BASE = "/base";
const HOST = "/host";
/** What the inner bubblewrap itself is started from. */
const STARTED_FROM = ["/usr", "/etc", "/nix", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** In the shared namespace, the outer bubblewrap is process 1 and the inner one process 2. */
const INNER_PROCESS = 2;

/** A machine path as the inner call finds it. */
export function seenByInner(path: string): string {
  return `${HOST}${path}`;
}

/** The outer call. */
export function buildOuter(parts: BaseParts, firstDescriptor: number): Profile {
  return profileOf(firstDescriptor, (hand) => [
    ...[...APART, ...ENDS_WITH_US, "--clearenv"],
    // Root only in this namespace: the inner one drops these rights.
    ...["--uid", "0", "--gid", "0", "--cap-add", "ALL"],
    ...["--dev-bind", "/", HOST, "--proc", "/proc", "--dir", "/tmp", "--perms", "0755", "--dir", BASE],
    ...STARTED_FROM.filter((path) => existsSync(path)).flatMap((path) => [
      "--symlink",
      `${HOST}${path}`.slice(1),
      path,
    ]),
    ...mountBase(parts, BASE, hand),
  ]);
}

/** Options for every inner call; on its command line, so that later arguments cannot change them. */
export function innerOptions({ identity }: BaseParts): readonly string[] {
  return [...UNPRIVILEGED, ...ENDS_WITH_US, ...identify(identity)];
}

/** The inner call, without `innerOptions`. */
export function buildInner(parts: ProfileParts, firstDescriptor: number): Profile {
  return profileOf(firstDescriptor, (hand) => [
    ...["--dev-bind", BASE, "/"],
    ...hideProcess(INNER_PROCESS, ""),
    ...admitCommand(parts, HOST, hand),
  ]);
}

function profileOf(firstDescriptor: number, build: (hand: Hand) => readonly string[]): Profile {
  const handed: (string | Uint8Array)[] = [];
  const args = build((content) => String(firstDescriptor + handed.push(content) - 1));
  return { args, handed };
}

function identify({ uid, gid }: SandboxIdentity): readonly string[] {
  return ["--uid", String(uid), "--gid", String(gid)];
}

/** The command's own part; `host` is where bubblewrap sees the machine's root. */
function admitCommand(parts: ProfileParts, host: string, hand: Hand): readonly string[] {
  const { command, world, identity, programs, seccomp } = parts;
  const { uid, gid } = identity;
  const { egressSocket, capabilitySocket } = command;
  const environment = { path: searchPath([BIN], programs), temporary: "/tmp" };
  // The other names under which skills call it if it has capabilities.
  const names = capabilitySocket === undefined ? [] : CLIENT_NAMES.filter((name) => name !== "metier-sb");
  return [
    ...(seccomp ? ["--seccomp", hand(seccomp)] : []),
    ...writeFile("/etc/passwd", hand(`metier:x:${uid}:${gid}:metier:${world.workDir}:/bin/sh\n`)),
    ...names.flatMap((name) => ["--symlink", "metier-sb", join(BIN, name)]),
    ...(egressSocket === undefined ? [] : ["--ro-bind", `${host}${egressSocket}`, EGRESS_SOCKET]),
    ...(capabilitySocket === undefined ? [] : ["--ro-bind", `${host}${capabilitySocket}`, CAPABILITY_SOCKET]),
    ...mountWorld(world, host),
    ...["--remount-ro", "/"],
    ...Object.entries({ ...minimalEnvironment(world, environment), ...command.env }).flatMap(
      ([name, value]) => ["--setenv", name, value],
    ),
    ...["--chdir", command.cwd ?? world.cwd],
  ];
}
