/**
 * The sandbox-runtime backend: Seatbelt on macOS, bubblewrap with its own profile on Linux. It gets the paths a command
 * must not read, never provides network, and refuses a world it cannot enforce.
 */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ownFile } from "@metier/base/files";
import { isInside } from "@metier/base/places";
import { SYSTEM_FILES } from "../bubblewrap/base-mounts.ts";
import {
  findHeldLimits,
  installCommand,
  PROBE_LIMITS,
  PROBE_WORLD,
  type Probed,
  probeOnce,
  tryOut,
  unavailable,
  works,
} from "../probe.ts";
import { withRlimits } from "../process/kernel-limits.ts";
import { readSignal } from "../process/process-output.ts";
import { runProcess } from "../process/run-process.ts";
import { ownFolders } from "../process/work-folders.ts";
import { type BroughtPrograms, searchPath } from "../programs.ts";
import {
  type CommandOutcome,
  createSandbox,
  minimalEnvironment,
  quoteWord,
  refuseCommand,
  type Sandbox,
  type SandboxCommand,
} from "../sandbox.ts";
import { refreshWorld } from "../world/build-world.ts";
import { type World, worldRules } from "../world/world.ts";

/** The only function used: it makes a command line from a policy, keeps no state and starts nothing. */
interface SandboxRuntime {
  wrap(command: string, shell: string, policy: RuntimePolicy): Promise<string>;
  /** Once per `wrap`, when the command has ended. */
  release(): void;
  readonly version: string;
  readonly folder: string;
}

interface RuntimePolicy {
  readonly denyRead: readonly string[];
  /** Overrides `denyRead` for deeper paths. */
  readonly allowRead: readonly string[];
  readonly allowWrite: readonly string[];
  /** Overrides `allowWrite`. */
  readonly denyWrite: readonly string[];
}

interface SandboxRuntimeParts {
  readonly runtime: SandboxRuntime;
  readonly prlimit?: string | undefined;
  readonly programs: BroughtPrograms;
}

const SHELL = "/bin/sh";

export function createSandboxRuntime({ runtime, prlimit, programs }: SandboxRuntimeParts): Sandbox {
  const files = [process.execPath, ...Object.values(programs.files)];
  const brought = [...files, ...programs.folders, join(runtime.folder, "vendor")];
  const path = searchPath(
    files.map((file) => dirname(file)),
    programs,
  );

  const runIn = async (command: SandboxCommand, temporary: string): Promise<CommandOutcome> => {
    const { stdin, signal, onOutput, limits } = command;
    const world = refreshWorld(command.world);
    const policy = buildRuntimePolicy(world, brought, temporary);
    const fault = whyNotHeld(world, policy);
    if (fault !== undefined)
      return refuseCommand(`The sandbox-runtime backend cannot contain this run: ${fault}.`);
    const wrapped = await runtime.wrap(command.argv.map(quoteWord).join(" "), SHELL, policy);
    try {
      const [program = SHELL, ...args] = withRlimits(prlimit, limits, [SHELL, "-c", wrapped]);
      const outcome = await runProcess({
        program,
        args,
        env: { ...minimalEnvironment(world, { path, temporary }), ...command.env },
        cwd: command.cwd ?? world.cwd,
        limits,
        folders: ownFolders(world),
        stdin,
        signal,
        onOutput,
      });
      return readSignal(outcome);
    } finally {
      runtime.release();
    }
  };

  return createSandbox("sandbox-runtime", async (command) => {
    const temporary = mkdtempSync(join(realpathSync(tmpdir()), "metier-"));
    try {
      return await runIn(command, temporary);
    } catch (error) {
      return refuseCommand(`sandbox-runtime cannot create a sandbox: ${(error as Error).message}`);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  });
}

/** At the top of the file system: programs and what they need, and no one's data. */
const SYSTEM_NAMES: ReadonlySet<string> = new Set(
  process.platform === "darwin"
    ? ["System", "Library", "usr", "bin", "sbin", "dev"]
    : ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "dev", "proc"],
);

/** On macOS: the shared libraries, time zones and certificates that programs need to start. */
const MACOS_FILES = ["/private/var/db/dyld", "/private/var/db/timezone", "/private/etc/ssl"];

/**
 * A run's world as a policy that denies reading by path: everything at the top of the file system except the system's
 * programs is denied, and the world is allowed. `brought`: Metier's programs and folders that the command needs;
 * `temporary`: its own folder for passing files.
 */
function buildRuntimePolicy(world: World, brought: readonly string[], temporary: string): RuntimePolicy {
  const rules = [...worldRules(world)];
  const withAccess = (...wanted: readonly string[]): readonly string[] =>
    rules.filter(([, access]) => wanted.includes(access)).map(([path]) => path);
  const writable = withAccess("write");
  const isBelowWritable = (path: string): boolean => writable.some((folder) => isInside(path, folder));
  const systemFiles = [...SYSTEM_FILES, ...MACOS_FILES].filter((path) => existsSync(path));
  return {
    denyRead: [...topPlaces(), ...withAccess("none")],
    allowRead: [...withAccess("read", "write"), ...systemFiles, ...brought, temporary],
    allowWrite: [...writable, temporary],
    denyWrite: withAccess("read", "none").filter(isBelowWritable),
  };
}

/** Why a world cannot be enforced, or `undefined`. */
function whyNotHeld(world: World, { allowWrite, denyWrite }: RuntimePolicy): string | undefined {
  if (world.placed && world.placed.length > 0) {
    return "the skill's packages cannot be shown in its folder";
  }
  const inner = allowWrite.find((path) => denyWrite.some((folder) => isInside(path, folder)));
  return inner && `\`${inner}\` cannot be writable inside a read-only folder`;
}

function topPlaces(): readonly string[] {
  return readdirSync("/")
    .filter((name) => !SYSTEM_NAMES.has(name))
    .map((name) => `/${name}`);
}

/* Whether it is installed next to Metier, starts, and really prevents a file from being read. */

const PACKAGE = "@anthropic-ai/sandbox-runtime";

/** What it starts by itself. */
const NEEDED: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["bwrap", "rg"],
  darwin: ["sandbox-exec"],
};

const NOTES: Partial<Record<NodeJS.Platform, string>> = {
  linux: ", where files outside a run's folders stay in memory without a limit",
  darwin: ", not tested on macOS",
};

export const probeSandboxRuntime: ReturnType<typeof probeOnce> = probeOnce(async ({ find, programs }) => {
  const fail = (reason: string, remedy?: string): Probed => unavailable("sandbox-runtime", reason, remedy);
  const needed = NEEDED[process.platform];
  if (!needed) return fail(`sandbox-runtime is not available for ${process.platform}.`);
  const missing = needed.filter((name) => find(name) === undefined);
  if (missing.length > 0)
    return fail(`sandbox-runtime needs ${missing.join(" and ")}.`, installCommand(find, missing));
  if (process.platform === "linux" && process.getuid?.() === 0) {
    // Inside, root keeps every privilege over its namespace: it could change settings of the whole kernel.
    return fail("sandbox-runtime cannot contain root on Linux; start Metier as an ordinary user.");
  }
  const runtime = await findSandboxRuntime();
  if (!runtime) return fail(`\`${PACKAGE}\` is not installed next to Metier.`, `npm install ${PACKAGE}`);
  const prlimit = find("prlimit");
  const sandbox = createSandboxRuntime({ runtime, programs, prlimit });
  const said = await tryOut(sandbox);
  if (said !== undefined) return fail(`${PACKAGE} ${runtime.version} does not start: ${said}`);
  if (await canReadOurs(sandbox))
    return fail(`${PACKAGE} ${runtime.version} does not prevent files from being read.`);
  const reason = `${PACKAGE} ${runtime.version}${NOTES[process.platform] ?? ""}; it has no network, even if domains are granted.`;
  return works(sandbox, reason, findHeldLimits(prlimit !== undefined, false));
});

/** Another version might interpret the policy differently. */
async function canReadOurs(sandbox: Sandbox): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "metier-probe-"));
  try {
    const file = join(folder, "private");
    writeFileSync(file, "private");
    const command = { argv: ["cat", file], world: PROBE_WORLD, env: {}, limits: PROBE_LIMITS };
    const { stdout } = await sandbox.run(command);
    return stdout !== "";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The package is not part of Metier: users install it next to Metier, and it is loaded only from there, never from the
 * working directory.
 */
export async function findSandboxRuntime(): Promise<SandboxRuntime | undefined> {
  const own = ownFile();
  if (own === undefined) return undefined;
  let main: string;
  try {
    main = createRequire(own).resolve(PACKAGE);
  } catch {
    return undefined; // It is not installed.
  }
  const folder = dirname(dirname(main));
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  const { SandboxManager } = (await import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ pathToFileURL(main).href
  )) as typeof import("@anthropic-ai/sandbox-runtime");
  const literal = (paths: readonly string[]): { path: string; literal: true }[] =>
    paths.map((path) => ({ path, literal: true }));
  return {
    version,
    folder,
    wrap: (command, shell, { denyRead, allowRead, allowWrite, denyWrite }) =>
      SandboxManager.wrapWithSandbox(command, shell, {
        // Without `initialize` there is no proxy, which means no network.
        network: { allowedDomains: [], deniedDomains: [] },
        filesystem: {
          denyRead: literal(denyRead),
          allowRead: literal(allowRead),
          allowWrite: literal(allowWrite),
          denyWrite: literal(denyWrite),
        },
      }),
    release: () => SandboxManager.cleanupAfterCommand(),
  };
}
