/**
 * Keeps one process ready for the toolsets of a run: started anew when it has ended, when the skill's code was changed,
 * and when the run's variables, what it sees, or whom its conversation may trust, are not those it was given. Calls that
 * are under way in one process go on there while the next is started.
 */
import { refreshWorld } from "../../sandbox/build-world.ts";
import type { World } from "../../sandbox/world.ts";
import { type CheckedTools, checkTools } from "./check-tools.ts";
import { stampCode } from "./stamp-code.ts";
import type { ToolsetStart } from "./toolset-connection.ts";
import { startToolsets, type ToolsetProcess, type ToolsetTimes } from "./toolset-process.ts";

export interface ToolsetsKept extends Pick<ToolsetStart, "sandbox" | "modules" | "lifetimeMs"> {
  /** How the skill names each of `modules`. */
  readonly entries: readonly string[];
  /** Of the skill: its real folder, and its file for diagnostics. */
  readonly folder: string;
  readonly path: string;
  readonly times: ToolsetTimes;
  /** Asked before each process, which may find other code than the last one: whether the skill is trusted as it is now. */
  mayLoad(): boolean;
  /** Whose untrusted text is in the run's conversation by now: what a process held open before is closed with it. */
  taintedBy?(): string | undefined;
}

/** As the run has them now. */
export interface Surroundings {
  readonly world: World;
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A message begins in lower case. */
export type Readiness =
  | { readonly ok: true; readonly process: ToolsetProcess; readonly checked: CheckedTools }
  | { readonly ok: false; readonly message: string };

export interface KeptToolsets {
  ready(surroundings: Surroundings): Promise<Readiness>;
  end(): Promise<void>;
}

/** Ends of a process that nobody asked for, before it is left alone until its code is changed. */
const MAX_CRASHES = 5;
/** A process is replaced before the sandbox takes what it says for a flood. */
const MAX_WRITTEN_BYTES = 32 * 1024 * 1024;

interface Generation {
  readonly process: ToolsetProcess;
  /** What it was given. */
  readonly given: string;
  readonly checked: CheckedTools;
}

export function keepToolsets(kept: ToolsetsKept): KeptToolsets {
  const started: ToolsetProcess[] = [];
  let current: Generation | undefined;
  let stamp = stampCode(kept.folder);
  let crashes = 0;
  let isEnded = false;
  let turn: Promise<unknown> = Promise.resolve();

  async function startAnew({ world, env, signal }: Surroundings, given: string): Promise<Readiness> {
    current?.process.retire();
    current = undefined;
    const process = startToolsets({ ...kept, world, env }, kept.times, signal);
    started.push(process);
    const loaded = await process.loaded;
    if (!loaded.ok) return loaded;
    const checked = await checkTools(loaded.toolsets, kept);
    current = { process, given, checked };
    return { ok: true, process, checked };
  }

  async function makeReady(surroundings: Surroundings, isFirst: boolean): Promise<Readiness> {
    if (isEnded) return { ok: false, message: "the run has ended." };
    const now = stampCode(kept.folder);
    const isChanged = now !== stamp;
    const hasEnded = !isFirst && (current === undefined || current.process.isOver);
    const given = JSON.stringify([kept.taintedBy?.(), surroundings.env, refreshWorld(surroundings.world)]);
    const isUsable =
      !hasEnded && !isChanged && current?.given === given && current.process.written < MAX_WRITTEN_BYTES;
    if (isUsable && current) return { ok: true, ...current };
    if (!kept.mayLoad()) {
      return { ok: false, message: "its code is not loaded, because the skill is not trusted as it is now." };
    }
    stamp = now;
    crashes = isChanged ? 0 : crashes + (hasEnded ? 1 : 0);
    if (crashes >= MAX_CRASHES) {
      const message = `the process of the toolsets has ended ${MAX_CRASHES} times and is not started again in this run.`;
      return { ok: false, message };
    }
    return startAnew(surroundings, given);
  }

  return {
    ready(surroundings) {
      const isFirst = started.length === 0;
      const made = turn.then(() => makeReady(surroundings, isFirst));
      turn = made.catch(() => undefined); // Whoever asked hears of the fault; the next one tries again.
      return made;
    },
    async end() {
      isEnded = true;
      await Promise.all(started.map((process) => process.end()));
    },
  };
}
