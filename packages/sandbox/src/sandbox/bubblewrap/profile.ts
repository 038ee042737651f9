/**
 * The hardened bubblewrap profile as data: the arguments by which a command finds what every program needs, and the folders
 * of its world as these. All in one call of bubblewrap; or in two, one inside the other, of which the outer knows nothing of
 * the command and is made ahead (`made-ahead.ts`). Starts nothing.
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

/** No life after ours, no terminal. */
const ENDS_WITH_US = ["--new-session", "--die-with-parent"];
/** No other process, no network, no name of the machine. */
const APART = ["--unshare-all", "--unshare-user", "--hostname", "metier"];
/** No privilege, no way to get one, and nothing of our environment. */
const UNPRIVILEGED = ["--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--clearenv"];

interface ProfileParts extends BaseParts {
  readonly command: SandboxCommand;
  /** The world's own, or as it is now: `refreshWorld`. */
  readonly world: World;
  /** Absent where the filter for this machine is not known. */
  readonly seccomp?: Uint8Array | undefined;
}

interface Profile {
  /** For `--args`: they hold the environment and must not stand on a command line, which everyone can read. */
  readonly args: readonly string[];
  /** The descriptors that `args` refers to, from `firstDescriptor` on. */
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
 * In two calls. The outer one makes the namespaces and what is the same for all commands, in a folder; beside it stands the
 * root of the machine. The inner one takes that folder for its root, mounts the world into it and gives up everything else:
 * the machine's root with its mounts is not in the namespace that the command gets. Processes of the outer namespace do see
 * it. The kernel keeps the command from them, since they are in a user namespace around its own, and they are hidden.
 */

const BASE = "/base";
const HOST = "/host";
/** What the inner bubblewrap itself is started from. */
const STARTED_FROM = ["/usr", "/etc", "/nix", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** In the namespace that both share, the outer bubblewrap is the first process and the inner one the second. */
const INNER_PROCESS = 2;

/** A path of the machine as the inner call finds it. */
export function seenByInner(path: string): string {
  return `${HOST}${path}`;
}

/** The outer call. */
export function buildOuter(parts: BaseParts, firstDescriptor: number): Profile {
  return profileOf(firstDescriptor, (hand) => [
    ...[...APART, ...ENDS_WITH_US, "--clearenv"],
    // Root of this namespace alone: what it may there, the inner one gives up.
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

/** What holds for every inner call; to stand on its command line, so that it holds whatever it is told later. */
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

/** What is the command's own; `host` is where bubblewrap sees the root of the machine. */
function admitCommand(parts: ProfileParts, host: string, hand: Hand): readonly string[] {
  const { command, world, identity, programs, seccomp } = parts;
  const { uid, gid } = identity;
  const { egressSocket, capabilitySocket } = command;
  const environment = { path: searchPath([BIN], programs), temporary: "/tmp" };
  // What else skills call it where it has capabilities.
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
