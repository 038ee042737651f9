/** The key-value store of a skill, as an embedding program has it: of one user, of runs without one, or of all users. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { UsageError } from "../foundation/errors.ts";
import type { Places } from "../host/places.ts";
import { openKeyValues, StoreFault } from "../sandbox/inside/key-values.ts";
import type { Json } from "../skill/manifest.ts";
import type { Skill } from "../skill/skill.ts";
import { dataFolders } from "./data-folder.ts";

export interface StoreOptions {
  /** The `userId` of a caller. Default: what runs without a user have. */
  readonly user?: string;
  /** What every run of the skill may read, whoever the user is, and none may change. */
  readonly global?: boolean;
}

/** Each value is kept in a file of its own in the skill's data folder, so that scripts and other processes see it. */
export interface SkillStore {
  /** `undefined` when there is none. */
  get(key: string): Json | undefined;
  /** Throws `UsageError` for what cannot be kept: no JSON, or too large. */
  set(key: string, value: Json): void;
  /** Whether there was one. */
  delete(key: string): boolean;
  /** By key. */
  all(): Readonly<Record<string, Json>>;
  clear(): void;
  /** One for each value that could not be read and was set aside. */
  readonly diagnostics: readonly Diagnostic[];
}

export function openSkillStore(
  places: Pick<Places, "data">,
  skill: Skill,
  options: StoreOptions = {},
): SkillStore {
  const { user, global = false } = options;
  if (global && user !== undefined) {
    throw new UsageError("A store is of one user or of all: give `user` or `global`, not both.");
  }
  const folders = dataFolders(places, { skill, trust: skill.trust.level, user });
  const diagnostics: Diagnostic[] = [];
  const values = openKeyValues(global ? folders.global : folders.own, (path, reason) => {
    const message = `A value of \`${skill.name}\` cannot be read: ${reason}.`;
    const hint = `It was set aside as \`${path}.corrupt\`.`;
    diagnostics.push({ code: "store.corrupt", severity: "warning", message, path, hint });
  });
  return {
    get: (key) => use(() => values.get(key) as Json | undefined),
    set: (key, value) => use(() => values.set(key, value)),
    delete: (key) => use(() => values.delete(key)),
    all: () => use(() => values.all() as ReturnType<SkillStore["all"]>),
    clear: () => values.clear(),
    diagnostics,
  };
}

function use<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (fault) {
    if (fault instanceof StoreFault) throw new UsageError(fault.message);
    throw fault;
  }
}
