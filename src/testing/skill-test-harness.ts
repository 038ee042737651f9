/**
 * One skill under test, without an agent, a model or this machine's settings: read, validate, see the text that a reader
 * would get, ask whether it may be used, and run it with a model that follows a script.
 */
import { dirname } from "node:path";
import type { GivenSkill } from "../catalog/given-skills.ts";
import { validateGiven, validatePaths } from "../catalog/validate-paths.ts";
import { type ManagerValidation, messagesOf, summariseReport } from "../facades/manager-validation.ts";
import type { LoadedSkill } from "../facades/skill-manager.ts";
import { UsageError } from "../foundation/errors.ts";
import type { PrepareOutcome } from "../invoke/invocation.ts";
import { renderBody } from "../invoke/render-body.ts";
import type { Profile } from "../validate/profiles.ts";
import {
  inTestPlace,
  NOWHERE,
  openTestMetier,
  type TestMetier,
  type TestPlace,
  type TestSetting,
  toSkillPath,
} from "./open-test-metier.ts";
import { runScripted, type TestRequest, type TestRun, type TestRunRequest } from "./run-scripted.ts";

export interface SkillTestHarnessOptions extends TestSetting {
  /** A skill's folder or its file. */
  readonly skillPath?: string | URL;
  /** The skill itself: an object as `register` takes it, or one that was loaded. Counts where a path is given too. */
  readonly skill?: GivenSkill | LoadedSkill;
}

export class SkillTestHarness {
  readonly #subject: string | GivenSkill | LoadedSkill;
  readonly #setting: TestSetting;
  #reading: Promise<TestMetier> | undefined;
  #loaded: Promise<LoadedSkill> | undefined;

  /** Throws `UsageError` without a skill. */
  constructor({ skillPath, skill, ...setting }: SkillTestHarnessOptions = {}) {
    const subject = skill ?? (skillPath === undefined ? undefined : toSkillPath(skillPath));
    if (subject === undefined) {
      throw new UsageError("A test harness needs a skill.", {
        hint: "Give `skillPath`, the folder or file of a skill, or `skill`, the skill as an object.",
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

  /** Every rule, on the file as it is now; a skill that was given loaded is judged by what was found then. */
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
   * The instructions as their reader gets them, arguments put in; `""` for a skill without any. Nothing is checked and
   * nothing is executed: whether the skill may be used here is what `prepare` says.
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

  /** The tools that it declares in `allowed-tools`, as written: a copy. */
  async getRegisteredTools(): Promise<string[]> {
    return [...((await this.load()).info.manifest.allowedTools ?? [])];
  }

  /** Whether it may be used so, by all checks; no model is asked and nothing is run. */
  async prepare(request: TestRequest = {}): Promise<PrepareOutcome> {
    const { metier, skill } = await this.#open();
    return metier.prepare({ ...request, skill: skill.name });
  }

  /**
   * A real run with a scripted or recorded model: tools, policy, hooks and sandbox as always, in empty folders. Refusals,
   * limits and faults are results. Throws when the script was not used up.
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

/** Of the skill itself; whatever else lies in its folder is not what is tested. */
async function validatePath(path: string, profile: Profile): Promise<ManagerValidation> {
  const report = await validatePaths([path], profile);
  const own = report.results.filter((result) => result.path === path || dirname(result.path) === path);
  const [first] = own;
  return summariseReport(first ? { valid: first.valid, results: own, diagnostics: [] } : report, path);
}

/** What failed is tried again the next time: the author may have mended it. */
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
  throw new UsageError(`Skill \`${name}\` was given as it was loaded, and has no file.`, {
    hint: "Give the object that it was registered as.",
  });
}
