/** Real skill files in a temporary home and project, and invocations prepared over them. */
import { join } from "node:path";
import { metierPlaces, type Places, projectFolders } from "@metier/base/places";
import type {
  Invocation,
  InvocationRefusal,
  PrepareDependencies,
  PreparedInvocation,
  PrepareOutcome,
} from "@metier/run";
import { prepareInvocation } from "@metier/run/engine";
import { loadState, type MetierOptions, type MetierState } from "@metier/runtime";
import { createWorld, skill } from "../../support/world.ts";

type Asked = Partial<Invocation> & Pick<Invocation, "skill">;

export interface InvocationWorld {
  readonly root: string;
  readonly project: string;
  readonly places: Places;
  readonly state: MetierState;
  /** How often everything was loaded again. */
  readonly reloads: number;
  write(files: Readonly<Record<string, string>>): void;
  reload(): Promise<void>;
  /** From the user, in a private chat, unless said otherwise. */
  attempt(invocation: Asked, dependencies?: Partial<PrepareDependencies>): Promise<PrepareOutcome>;
  /** Throws when it is refused. */
  prepare(invocation: Asked, dependencies?: Partial<PrepareDependencies>): Promise<PreparedInvocation>;
  /** Throws when it is not refused. */
  refuse(invocation: Asked, dependencies?: Partial<PrepareDependencies>): Promise<InvocationRefusal>;
}

export interface WorldInputs {
  readonly files?: Readonly<Record<string, string>>;
  /** The user's config. */
  readonly config?: string;
  readonly options?: MetierOptions;
}

/** The file of a trusted skill of the user. */
export function own(name: string, more = "", body = "Do the thing."): Readonly<Record<string, string>> {
  return { [`home/.metier/skills/${name}/SKILL.md`]: skill(name, more, body) };
}

/** The file of a skill that nobody trusts: below `custom`, which the worlds here search. */
export function foreign(name: string, more = "", body = "Do the thing."): Readonly<Record<string, string>> {
  return { [`custom/${name}/SKILL.md`]: skill(name, more, body) };
}

export async function invocationWorld(inputs: WorldInputs = {}): Promise<InvocationWorld> {
  const { root, home, project, write } = createWorld();
  write({ "custom/placeholder/SKILL.md": skill("placeholder"), ...inputs.files });
  if (inputs.config !== undefined) write({ "home/.metier/config.toml": inputs.config });
  const options: MetierOptions = {
    environment: { PATH: process.env.PATH ?? "" },
    index: false,
    paths: [join(root, "custom")],
    ...inputs.options,
  };
  const given = (options.integrations ?? []).filter((entry) => typeof entry !== "string");
  const places = metierPlaces(home);
  const load = (): Promise<MetierState> =>
    loadState(
      { options, cwd: project, places, project: projectFolders(project, home) },
      { discovery: "configured", registered: [] },
    );
  let state = await load();
  let reloads = 0;
  const reload = async (): Promise<void> => {
    reloads++;
    state = await load();
  };
  const attempt: InvocationWorld["attempt"] = (invocation, dependencies = {}) =>
    prepareInvocation(
      { source: "user", caller: { chatType: "private", chatId: "cli", userId: "me" }, ...invocation },
      {
        current: () => state,
        reload,
        environment: options.environment ?? {},
        machine: {
          runCommand: async ([, text = ""]) => ({ stdout: text }),
          findCommand: (name) => `/bin/${name}`,
          platform: "linux",
        },
        bodyOf: ({ name }) => given.find((entry) => entry.name === name)?.instructions,
        ...dependencies,
      },
    );
  return {
    root,
    project,
    places,
    write,
    reload,
    attempt,
    get state() {
      return state;
    },
    get reloads() {
      return reloads;
    },
    async prepare(invocation, dependencies) {
      const result = await attempt(invocation, dependencies);
      if (!result.ok) throw new Error(`It was refused: ${JSON.stringify(result.refusal)}`);
      return result.prepared;
    },
    async refuse(invocation, dependencies) {
      const result = await attempt(invocation, dependencies);
      if (result.ok) throw new Error("It was not refused.");
      return result.refusal;
    },
  };
}
