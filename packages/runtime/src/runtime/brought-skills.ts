/** The skills that a program provides other than as folders: those of its sources, and objects with files. */
import type { Diagnostic } from "@metier/base/diagnostic";
import {
  type GivenSkill,
  hasFiles,
  openShelf,
  openSources,
  type Scope,
  type SkillRoot,
  type SkillSource,
  scopeRank,
  shelveGiven,
} from "@metier/skills";
import type { MetierOptions } from "./metier-options.ts";

/** What a load takes from them. */
interface Brought {
  /** Objects that need no folder. */
  readonly given: readonly GivenSkill[];
  /** A root for each of the others. */
  readonly roots: readonly SkillRoot[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface BroughtSkills {
  read(
    given: readonly GivenSkill[],
    options: { readonly order: readonly Scope[]; readonly asksSources: boolean },
  ): Promise<Brought>;
}

/** One per `Metier`: what was read from a source is reused by the next load. */
export function openBrought(
  { sources = [] }: Pick<MetierOptions, "sources">,
  cacheFolder: string | undefined,
): BroughtSkills {
  const shelf = openShelf(cacheFolder);
  const reader = openSources(sources, shelf);
  return {
    async read(given, { order, asksSources }) {
      const roots: SkillRoot[] = [];
      const diagnostics: Diagnostic[] = [];
      for (const skill of given.filter(needsFolder)) {
        const shelved = shelveGiven(skill, shelf, scopeRank(order, "integration"));
        if (shelved.ok) roots.push(shelved.value);
        else diagnostics.push(...shelved.refusal);
      }
      const read = asksSources ? await reader.read(order) : { roots: [], diagnostics: [] };
      return {
        given: given.filter((skill) => !needsFolder(skill)),
        roots: [...roots, ...read.roots],
        diagnostics: [...diagnostics, ...read.diagnostics],
      };
    },
  };
}

/** Values that aren't objects are refused elsewhere. */
function needsFolder(skill: unknown): boolean {
  return typeof skill === "object" && skill !== null && hasFiles(skill as GivenSkill);
}

const SETTLE_MS = 100;

/**
 * Watches the sources that support it; changes close together count as one. If a source's `watch` throws, that is
 * reported and the others are watched. The returned function stops the watch.
 */
export function watchBrought(
  { sources = [] }: Pick<MetierOptions, "sources">,
  onChange: () => void,
  onFault: (fault: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const changed = (): void => {
    if (isOver) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  };
  const stops = sources.flatMap((source) => startWatch(source, changed, onFault));
  return () => {
    isOver = true;
    clearTimeout(timer);
    for (const stop of stops) attempt(stop, onFault);
  };
}

function startWatch(
  source: SkillSource,
  changed: () => void,
  onFault: (fault: unknown) => void,
): readonly (() => void)[] {
  const stop = attempt(() => source.watch?.(changed), onFault);
  return typeof stop === "function" ? [stop] : [];
}

function attempt<Value>(act: () => Value, onFault: (fault: unknown) => void): Value | undefined {
  try {
    return act();
  } catch (fault) {
    onFault(fault);
    return undefined;
  }
}
