/**
 * Prepares sandboxes before their commands come, each for one command: namespaces, and what is the same for all
 * commands. One waits; when its command comes, the current world is mounted into it. It is used only if a new one would
 * be the same.
 */
import { statSync } from "node:fs";
import { countsByNamespace, sayRlimits } from "../process/kernel-limits.ts";
import { readText } from "../process/process-tree.ts";
import { type StartedAhead, startAhead } from "../process/run-process.ts";
import { quoteWord, type SandboxLimits } from "../sandbox.ts";
import { type BaseParts, baseSources } from "./base-mounts.ts";
import { buildOuter, innerOptions, seenByInner } from "./profile.ts";

/** How a command's words reach a sandbox whose command line was already written. */
const START_VARIABLE = "METIER_START";
/** For one variable; the kernel allows about 128,000. */
const MAX_START_BYTES = 100_000;
/** The name the starting shell uses in its errors. */
export const STARTER_NAME = "metier-start";
/** The command itself does not see the variable. */
const STARTER = ["/bin/sh", "-c", `eval "unset ${START_VARIABLE}; $${START_VARIABLE}"`, STARTER_NAME];

/** The environment entry that starts these words; `undefined` if they cannot be passed this way. */
export function sayStart(
  words: readonly string[],
  limits: SandboxLimits,
): Readonly<Record<string, string>> | undefined {
  const text = `${sayRlimits(limits)}; exec ${words.map(quoteWord).join(" ")}`;
  const isSaid = !words[0]?.startsWith("-") && Buffer.byteLength(text) < MAX_START_BYTES;
  return isSaid ? { [START_VARIABLE]: text } : undefined;
}

/** After the three standard streams; then what else the inner call gets when its command comes. */
export const ARGS_DESCRIPTOR = 3;

/** Bubblewrap in bubblewrap: the inner one waits for its arguments, `/etc/passwd` and the filter, if any. */
export function makeSandbox(
  bwrap: string,
  base: BaseParts,
  hasFilter: boolean,
  limits: SandboxLimits,
): Promise<StartedAhead | undefined> {
  const later = hasFilter ? 3 : 2;
  const outer = ARGS_DESCRIPTOR + later;
  const { args, handed } = buildOuter(base, outer + 1);
  const inner = [seenByInner(bwrap), ...innerOptions(base), "--args", String(ARGS_DESCRIPTOR), "--"];
  return startAhead({
    program: bwrap,
    args: ["--args", String(outer), "--", ...inner, ...STARTER],
    env: {},
    cwd: "/",
    later,
    handed: [encodeArguments(args), ...handed],
    heldTo: countsByNamespace() ? undefined : limits,
  });
}

/** For `--args`. */
export function encodeArguments(args: readonly string[]): string {
  return args.map((arg) => `${arg}\0`).join("");
}

/** Its limits, the machine's mounts, and which files are mounted: a replaced file has another inode. */
export function stampBase(base: BaseParts, { maxProcesses, maxMemoryBytes }: SandboxLimits): string {
  const heldTo = countsByNamespace() ? [] : [maxProcesses, maxMemoryBytes];
  const numbers = baseSources(base).map((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? `${found.dev}:${found.ino}` : "";
  });
  return [...numbers, ...heldTo, readText("/proc/self/mountinfo")].join("\n");
}

interface AheadParts {
  make(limits: SandboxLimits): Promise<StartedAhead | undefined>;
  /** What a sandbox is made from: if it changes, prepared ones are not used. */
  stamp(limits: SandboxLimits): string;
  /** Uses one up. Some machines allow bubblewrap, but not nested. */
  works(made: StartedAhead): Promise<boolean>;
}

export interface KeptAhead {
  /** One that is identical to a new one. */
  take(limits: SandboxLimits): StartedAhead | undefined;
  /** Call this while a command runs and Metier waits: prepares one for the next command, with the same limits. */
  makeNext(limits: SandboxLimits): void;
}

/** After this long, a program that waits for a person or a model keeps none. */
const IDLE_MS = 30_000;
/** Not after the first command, which tries the backend and is the only one in many programs. */
const FIRST_FOLLOWED = 3;

/** Most commands have ended by then, so preparing takes no processor time from them. */
const MAKE_AFTER_MS = 20;

interface Waiting {
  readonly made: StartedAhead;
  readonly stamp: string;
  readonly end: NodeJS.Timeout;
}

export function keepAhead({ make, stamp, works }: AheadParts): KeptAhead {
  let waiting: Waiting | undefined;
  let commands = 0;
  /** `undefined` until it was tried. */
  let canMake: boolean | undefined;
  let isMaking = false;

  const takeWaiting = (): Waiting | undefined => {
    const found = waiting;
    waiting = undefined;
    clearTimeout(found?.end);
    return found;
  };
  const add = async (limits: SandboxLimits): Promise<void> => {
    const now = stamp(limits);
    const made = await make(limits);
    if (!made) return;
    waiting = { made, stamp: now, end: setTimeout(() => takeWaiting()?.made.drop(), IDLE_MS).unref() };
  };
  const tryThenAdd = async (limits: SandboxLimits): Promise<void> => {
    const made = canMake === undefined ? await make(limits) : undefined;
    canMake ??= made !== undefined && (await works(made));
    if (canMake) await add(limits);
  };
  return {
    take(limits) {
      const found = takeWaiting();
      if (found?.made.isWaiting() && found.stamp === stamp(limits)) return found.made;
      found?.made.drop();
      return undefined;
    },
    makeNext(limits) {
      commands += 1;
      if (commands < FIRST_FOLLOWED || isMaking || waiting || canMake === false) return;
      isMaking = true;
      setTimeout(() => {
        tryThenAdd(limits)
          .catch(() => (canMake = false)) // The next command makes its own, and reports what is wrong.
          .finally(() => (isMaking = false));
      }, MAKE_AFTER_MS).unref();
    },
  };
}
