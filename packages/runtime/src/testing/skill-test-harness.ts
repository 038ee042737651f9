/**
 * Tests one skill without an agent, a model or this machine's settings: read it, validate it, see its text, check
 * whether it may be used, and run it with a scripted model. Use the matchers with Vitest's
 * `expect.extend(skillMatchers)` and the harness as a fixture with `base.extend(skillFixtures)`; nothing imports
 * Vitest, so everything works without it.
 */
import { dirname } from "node:path";
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { type PrepareOutcome, type RefusalReason, readToolName, refusalText, renderBody } from "@metier/run";
import { type GivenSkill, type Profile, validateGiven, validatePaths } from "@metier/skills";
import {
  type LoadedSkill,
  type ManagerValidation,
  messagesOf,
  summariseReport,
} from "../facades/skill-manager.ts";
import {
  inTestPlace,
  NOWHERE,
  openTestMetier,
  runScripted,
  type TestMetier,
  type TestPlace,
  type TestRequest,
  type TestRun,
  type TestRunRequest,
  type TestSetting,
  toSkillPath,
} from "./test-metier.ts";

/** The skill to test, by path or as an object, and its settings. */
export interface SkillTestHarnessOptions extends TestSetting {
  /** A skill's folder or its file. */
  readonly skillPath?: string | URL;
  /** The skill itself: an object as `register` takes it, or a loaded one. Overrides `skillPath`. */
  readonly skill?: GivenSkill | LoadedSkill;
}

const SETTING: OptionKeys<TestSetting> = {
  models: true,
  tools: true,
  agents: true,
  search: true,
  onEvent: true,
  logger: true,
  runs: true,
  service: true,
  journal: true,
  engine: true,
  snapshots: true,
  capabilities: true,
  profile: true,
  trust: true,
  config: true,
  environment: true,
};
const OPTIONS: OptionKeys<SkillTestHarnessOptions> = { ...SETTING, skillPath: true, skill: true };

/** One skill under test, isolated from this machine's config and other skills. */
export class SkillTestHarness {
  readonly #subject: string | GivenSkill | LoadedSkill;
  readonly #setting: TestSetting;
  #reading: Promise<TestMetier> | undefined;
  #loaded: Promise<LoadedSkill> | undefined;

  /** Throws `UsageError` without a skill. */
  constructor(options: SkillTestHarnessOptions = {}) {
    checkKeys("SkillTestHarness", options, OPTIONS);
    const { skillPath, skill, ...setting } = options;
    const subject = skill ?? (skillPath === undefined ? undefined : toSkillPath(skillPath));
    if (subject === undefined) {
      throw new UsageError("A test harness needs a skill.", {
        hint: "Pass `skillPath`, the folder or file of a skill, or `skill`, the skill as an object.",
      });
    }
    this.#subject = subject;
    this.#setting = setting;
  }

  /** The skill with its instructions, read once. Throws `SkillNotFoundError`, `SkillValidationError` or `SkillLoadError`. */
  load(): Promise<LoadedSkill> {
    this.#loaded ??= forgetFault(this.#load(), () => {
      this.#loaded = undefined;
    });
    return this.#loaded;
  }

  /** Applies every rule to the current file; a skill passed as loaded is judged by what was found then. */
  async validate(profile?: Profile): Promise<ManagerValidation> {
    if (isLoaded(this.#subject)) {
      const messages = messagesOf(this.#subject.info.diagnostics);
      return { valid: messages.errors.length === 0, ...messages, skillPath: this.#subject.info.location };
    }
    const under = profile ?? this.#setting.profile ?? "standard";
    return typeof this.#subject === "string"
      ? validatePath(this.#subject, under)
      : summariseReport(await validateGiven(this.#subject, under), "");
  }

  /**
   * The instructions as a reader gets them, with arguments filled in; `""` for a skill without any. Checks and executes
   * nothing: use `prepare` to learn whether the skill may be used.
   */
  async invoke(args = ""): Promise<string> {
    const { info, body } = await this.load();
    if (body === "") return "";
    const trust = { ...info.trust, hint: "" };
    const { text } = await renderBody(body, {
      skill: info,
      execution: "inline",
      trust,
      arguments: args,
      isDynamic: false,
    });
    return text;
  }

  /** A copy of the tools it declares in `allowed-tools`, as written. */
  async getRegisteredTools(): Promise<string[]> {
    return [...((await this.load()).info.manifest.allowedTools ?? [])];
  }

  /** Whether it may be used, after all checks; asks no model and runs nothing. */
  async prepare(request: TestRequest = {}): Promise<PrepareOutcome> {
    const { metier, skill } = await this.#open();
    return metier.prepare({ ...request, skill: skill.name });
  }

  /**
   * A real run with a scripted or recorded model: tools, policy, hooks and sandbox as usual, in empty folders.
   * Refusals, limits and errors are results. Throws if the script wasn't used up.
   */
  run(request: TestRunRequest): Promise<TestRun> {
    const act = async (place: TestPlace): Promise<TestRun> => runScripted(await this.#openIn(place), request);
    return request.place ? act(request.place) : inTestPlace(act);
  }

  async #load(): Promise<LoadedSkill> {
    if (isLoaded(this.#subject)) return this.#subject;
    const { metier, skill } = await this.#open();
    return { info: skill, body: (await metier.getInstructions(skill.name)).text };
  }

  #open(): Promise<TestMetier> {
    this.#reading ??= forgetFault(this.#openIn(NOWHERE), () => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #openIn(place: TestPlace): Promise<TestMetier> {
    return openTestMetier(registrable(this.#subject), this.#setting, place);
  }
}

/** Only of the skill itself; other files in its folder aren't tested. */
async function validatePath(path: string, profile: Profile): Promise<ManagerValidation> {
  const report = await validatePaths([path], profile);
  const own = report.results.filter((result) => result.path === path || dirname(result.path) === path);
  const [first] = own;
  return summariseReport(first ? { valid: first.valid, results: own, diagnostics: [] } : report, path);
}

/** A failure is retried next time: the author may have fixed it. */
function forgetFault<Value>(attempt: Promise<Value>, forget: () => void): Promise<Value> {
  attempt.catch(forget);
  return attempt;
}

function isLoaded(subject: string | GivenSkill | LoadedSkill): subject is LoadedSkill {
  return typeof subject === "object" && "info" in subject && "body" in subject;
}

/** What a `Metier` can be given of it. */
function registrable(subject: string | GivenSkill | LoadedSkill): string | GivenSkill {
  if (!isLoaded(subject)) return subject;
  const { name, location } = subject.info;
  if (location !== "") return toSkillPath(location);
  throw new UsageError(`Skill \`${name}\` was passed as it was loaded, so it has no file.`, {
    hint: "Pass the object it was registered as.",
  });
}

/** What the matchers take: a harness, a skill's path, or a skill object. */
export type TestedSkill = SkillTestHarness | string | URL | GivenSkill;

/** What the matchers add to `expect(skill)`. */
export interface SkillMatchers {
  /** No rule of the profile reports an error. Default: `standard`. */
  toBeValidSkill(profile?: Profile): Promise<void>;
  /** `allowed-tools` lists it, as written or by any name for the same tool: `Read` is `read_file`. */
  toDeclareTool(tool: string): Promise<void>;
  /** With these arguments, the text contains them (or the expected text) and no longer `$ARGUMENTS`. */
  toSubstitute(args: string, expected?: string | RegExp): Promise<void>;
  /** It may be used, after all checks. */
  toBeUsable(request?: TestRequest): Promise<void>;
  /** It may not be used; for this reason, if given. */
  toRefuse(reason?: RefusalReason, request?: TestRequest): Promise<void>;
}

interface MatcherAnswer {
  /** Whether it is as expected. */
  readonly pass: boolean;
  /** What was expected and what came. */
  message(): string;
}

type Matcher<Name extends keyof SkillMatchers> = (
  received: TestedSkill,
  ...expected: Parameters<SkillMatchers[Name]>
) => Promise<MatcherAnswer>;

/** Skill matchers for Vitest's `expect.extend`; `SkillMatchers` has their types. */
export const skillMatchers: { readonly [Name in keyof SkillMatchers]: Matcher<Name> } = {
  async toBeValidSkill(received, profile) {
    const { valid, errors } = await harnessOf(received).validate(profile);
    return answer(valid, "be a valid skill", valid ? "it is" : `it is not:\n${lines(errors)}`);
  },

  async toDeclareTool(received, tool) {
    const tools = await harnessOf(received).getRegisteredTools();
    const pass = tools.some((pattern) => pattern === tool || meaningOf(pattern) === meaningOf(tool));
    const declared = tools.length > 0 ? `it declares:\n${lines(tools)}` : "it declares none";
    return answer(pass, `declare the tool \`${tool}\``, declared);
  },

  async toSubstitute(received, args, expected = args) {
    const text = await harnessOf(received).invoke(args);
    const isThere = typeof expected === "string" ? text.includes(expected) : expected.test(text);
    const pass = isThere && !text.includes("$ARGUMENTS");
    const what = typeof expected === "string" ? JSON.stringify(expected) : String(expected);
    return answer(pass, `have ${what} for the arguments ${JSON.stringify(args)}`, `its text is:\n${text}`);
  },

  async toBeUsable(received, request) {
    const outcome = await harnessOf(received).prepare(request);
    const why = outcome.ok ? "it is" : `it is refused: ${refusalText(outcome.refusal)}`;
    return answer(outcome.ok, "be usable", why);
  },

  async toRefuse(received, reason, request) {
    const outcome = await harnessOf(received).prepare(request);
    const reasons = outcome.ok ? [] : [outcome.refusal, ...outcome.refusal.also].map((cause) => cause.reason);
    const pass = reason === undefined ? !outcome.ok : reasons.includes(reason);
    const what = reason === undefined ? "be refused" : `be refused because of \`${reason}\``;
    return answer(pass, what, outcome.ok ? "it is usable" : `it is refused: ${refusalText(outcome.refusal)}`);
  },
};

function harnessOf(received: TestedSkill): SkillTestHarness {
  if (received instanceof SkillTestHarness) return received;
  const isPath = typeof received === "string" || received instanceof URL;
  return new SkillTestHarness(isPath ? { skillPath: received } : { skill: received });
}

/** The tool a pattern is about, whatever its scope: `Bash(git log:*)` is about `bash`. */
function meaningOf(pattern: string): string {
  return readToolName(pattern.split("(", 1)[0] ?? pattern).name;
}

function answer(pass: boolean, wish: string, came: string): MatcherAnswer {
  return { pass, message: () => `expected the skill ${pass ? "not " : ""}to ${wish}; ${came}` };
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `  ${text}`).join("\n");
}

/** The skill that `createSkillHarness` tests: `path` or `skill`, and its settings. */
export interface SkillHarnessOptions extends Omit<SkillTestHarnessOptions, "skillPath"> {
  /** A skill's folder or its file. */
  readonly path?: string | URL;
}

const HARNESS: OptionKeys<SkillHarnessOptions> = { ...SETTING, path: true, skill: true };

/** Creates a harness; throws `UsageError` without a skill. */
export type SkillHarnessFactory = (options: SkillHarnessOptions) => SkillTestHarness;

/** Fixtures for Vitest's `test.extend`. */
export interface SkillFixtures {
  /** Gives a test the factory `createSkillHarness`. */
  skillHarness: (context: object, use: (factory: SkillHarnessFactory) => Promise<void>) => Promise<void>;
}

/**
 * Makes a harness for one skill. Throws `UsageError` without `path` and `skill`.
 *
 * @example
 * ```ts
 * const harness = createSkillHarness({ path: "skills/deploy" });
 * const { valid, errors } = await harness.validate("strict");
 * const { result, calls } = await harness.run({ script: [{ answer: { text: "Done." } }] });
 * ```
 */
export const createSkillHarness: SkillHarnessFactory = (given) => {
  checkKeys("createSkillHarness", given ?? null, HARNESS);
  const { path, ...options } = given;
  return new SkillTestHarness({ ...options, ...presentFields({ skillPath: path }) });
};

/** The fixture `skillHarness`, for Vitest's `test.extend(skillFixtures)`. */
export const skillFixtures: SkillFixtures = {
  // Vitest reads from the braces which other fixtures this one needs: none.
  // biome-ignore lint/correctness/noEmptyPattern: see above
  skillHarness: async ({}, use) => use(createSkillHarness),
};
