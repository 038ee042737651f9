/**
 * Sandboxes that are made before their command comes, each for one command: namespaces, and what is the same for all
 * commands. One waits, and the world is mounted into it when its command comes, as the machine is then. It is used only
 * while it is what would be made now.
 */
import { statSync } from "node:fs";
import { countsByNamespace, sayRlimits } from "../process/kernel-limits.ts";
import { readText } from "../process/process-tree.ts";
import { type StartedAhead, startAhead } from "../process/run-process.ts";
import { quoteWord, type SandboxLimits } from "../sandbox.ts";
import { type BaseParts, baseSources } from "./base-mounts.ts";
import { buildOuter, innerOptions, seenByInner } from "./profile.ts";

/** How the words of a command reach a sandbox whose own command line was written before. */
const START_VARIABLE = "METIER_START";
/** Of one variable; the kernel takes some 128,000. */
const MAX_START_BYTES = 100_000;
/** How the shell that starts the command names itself where it cannot. */
export const STARTER_NAME = "metier-start";
/** The command itself does not see the variable. */
const STARTER = ["/bin/sh", "-c", `eval "unset ${START_VARIABLE}; $${START_VARIABLE}"`, STARTER_NAME];

/** What is to be set in the environment for the words to be started; nothing where they cannot be said so. */
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

/** Bubblewrap in bubblewrap: the inner one waits for its arguments, `/etc/passwd` and the filter, if there is one. */
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

/** The limits it is held to, the mounts of the machine, and which files are mounted: one that is replaced has another number. */
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
  /** Of what a sandbox is made from: another one, and what was made before is not used. */
  stamp(limits: SandboxLimits): string;
  /** Uses one up. Some machines let bubblewrap run, but not in itself. */
  works(made: StartedAhead): Promise<boolean>;
}

export interface KeptAhead {
  /** One that is as if it were made now. */
  take(limits: SandboxLimits): StartedAhead | undefined;
  /** To be called while a command runs and Metier waits for it: one is made for the next, which may use as much. */
  makeNext(limits: SandboxLimits): void;
}

/** Then a program that waits for a person or a model keeps nothing running for it. */
const IDLE_MS = 30_000;
/** After the one that tries the backend, and the only one that many programs run. */
const FIRST_FOLLOWED = 3;

/** Most commands have ended by then: making it takes the processor from none of them. */
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
          .catch(() => (canMake = false)) // The next command has one made for itself, and is told what is wrong.
          .finally(() => (isMaking = false));
      }, MAKE_AFTER_MS).unref();
    },
  };
}
