/**
 * A `Metier` that knows one skill and nothing else of this machine: no config, no other skills, no values, no network.
 * The machine's policy still applies. So a test has the same outcome everywhere. Also a run in it with a scripted
 * model, strict both ways: a script that doesn't match what happens fails the test.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, parse, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "@metier/base/errors";
import { removeFolder } from "@metier/base/files";
import type { Json } from "@metier/base/json";
import { realPathOr } from "@metier/base/places";
import { showNames } from "@metier/base/text";
import type { RunRequest, RunResult } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import {
  checkScriptKeys,
  createScriptModel as createModel,
  type GivenModel,
  type Script,
  ScriptMismatchError,
  type StreamedAnswer,
  type WholeAnswer,
} from "@metier/run/model";
import { type GivenSkill, isSkillFileName, type Skill, type Trust } from "@metier/skills";
import { tellEnding as describeEnding } from "../facades/skill-registry.ts";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { MetierOptions, RunningOptions } from "../runtime/metier-options.ts";

/** What a skill is tested with: models, tools, config and trust. This machine's config and skills aren't used. */
export interface TestSetting extends RunningOptions, Pick<MetierOptions, "capabilities" | "profile"> {
  /** The trust of a skill in a file. Default: `trusted`, because whoever tests it vouches for it. */
  readonly trust?: Trust;
  /** Config values, as in a config file. Default: those of a machine without one. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Default: the process's, without `METIER_…`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Where a run may leave files. */
export interface TestPlace {
  /** The home folder, absolute. */
  readonly home: string;
  /** The working directory, absolute. */
  readonly cwd: string;
}

export interface TestMetier {
  readonly metier: Metier;
  readonly skill: Skill;
}

/** For reading only: nothing is there, and nothing is written. */
export const NOWHERE: TestPlace = { home: resolve("/nonexistent"), cwd: parse(resolve(".")).root };

/** An empty home and working folder, removed afterwards. */
export async function inTestPlace<Value>(act: (place: TestPlace) => Promise<Value>): Promise<Value> {
  const folder = realPathOr(mkdtempSync(join(tmpdir(), "metier-skill-test-")));
  try {
    const place = { home: join(folder, "home"), cwd: join(folder, "project") };
    mkdirSync(place.home);
    mkdirSync(place.cwd);
    return await act(place);
  } finally {
    removeFolder(folder);
  }
}

/** A skill's absolute path: its folder, if it has one, because the folder is what is trusted. */
export function toSkillPath(path: string | URL): string {
  const absolute = path instanceof URL ? fileURLToPath(path) : resolve(path);
  return isSkillFileName(basename(absolute)) ? dirname(absolute) : absolute;
}

/** Throws what `Metier.register` throws for a skill that can't be loaded. */
export async function openTestMetier(
  subject: string | GivenSkill,
  setting: TestSetting,
  place: TestPlace,
): Promise<TestMetier> {
  const opened = await open(subject, setting, place, {});
  const { name, manifest } = opened.skill;
  // Whoever tests a skill wants to use it, even one that needs the user's opt-in elsewhere.
  return manifest.optIn ? open(subject, setting, place, { [name]: { enabled: true } }) : opened;
}

async function open(
  subject: string | GivenSkill,
  { trust = "trusted", config = {}, environment = process.env, ...options }: TestSetting,
  place: TestPlace,
  settings: Readonly<Record<string, unknown>>,
): Promise<TestMetier> {
  const metier = await createMetier({
    ...options,
    ...place,
    environment: withoutSettings(environment),
    autoDiscover: false,
    bundled: false,
    index: false,
    ...(typeof subject === "string" && trust === "trusted" && { trustedPaths: [subject] }),
    config: {
      ...config,
      environments: { build: false }, // Which would need the network.
      skills: {
        "auto-discover": false,
        "default-execution": "inline",
        ...(config.skills as Readonly<Record<string, unknown>> | undefined),
        ...settings,
      },
    },
  });
  const skill = await metier.register(subject);
  refuseSeveral(subject, metier.catalog.all);
  return { metier, skill };
}

function withoutSettings(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith("METIER_"),
    ),
  );
}

function refuseSeveral(subject: string | GivenSkill, skills: readonly Skill[]): void {
  if (skills.length < 2) return;
  const names = showNames(skills.map(({ name }) => name));
  throw new UsageError(`\`${subject}\` has ${skills.length} skills: ${names}. A test needs exactly one.`, {
    hint: "Pass the folder or file of one skill.",
  });
}

/** The request to the skill, which is already named. */
export type TestRequest = Omit<RunRequest, "skill">;

/** How to run a skill under test: the request, and what answers in place of a model. */
export interface TestRunRequest extends TestRequest {
  /** The model's answers, turn by turn. An unexpected request fails, and so does an unused turn. */
  readonly script?: Script;
  /** Instead of a script: a recording, made with `record`. */
  readonly replay?: string;
  /** Instead of the empty folders that are removed after the run. */
  readonly place?: TestPlace;
}

/** What happened in a run of a skill under test. */
export interface TestRun {
  /** How the run ended; refusals, limits and errors are results too. */
  readonly result: RunResult;
  /** The tool calls, in order. */
  readonly calls: readonly TestedCall[];
  /** Every event, in order, including those of runs it started. */
  readonly events: readonly RunEvent[];
}

/** Throws if the script wasn't followed to its end. */
export async function runScripted(
  { metier, skill }: TestMetier,
  { script, replay, place: _place, ...request }: TestRunRequest,
): Promise<TestRun> {
  const scripted = script && createScriptedModel(script, skill.name);
  const model = scripted ?? (replay === undefined ? request.model : `replay:${resolve(replay)}`);
  if (model === undefined) {
    throw new UsageError("A test run needs something that answers in place of a model.", {
      hint: "Pass `script`, or the recording to `replay`.",
    });
  }
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent): unknown => {
    events.push(event);
    return request.onEvent?.(event);
  };
  try {
    const result = await metier.run({ ...request, skill: skill.name, model, onEvent });
    if (scripted) refuseMismatch(scripted, result);
    return { result, calls: listToolCalls(events, result.runId), events };
  } finally {
    await metier.capabilities.close();
  }
}

function refuseMismatch(model: ScriptedModel, result: RunResult): void {
  const { status, error } = result;
  if (error?.code === "model.unscripted") throw new ScriptMismatchError(error.message);
  try {
    model.assertDone();
  } catch (fault) {
    if (status === "completed") throw fault;
    throw new ScriptMismatchError(`${(fault as Error).message} The run had ended: ${describeEnding(result)}`);
  }
}

/** A tool call that the model requested. */
export interface TestedCall {
  /** The tool's name, as the model wrote it. */
  readonly tool: string;
  /** The input, as the model gave it. */
  readonly input: Json;
  /** It wasn't carried out: not allowed, not offered, blocked by a hook, or with invalid input. */
  readonly denied: boolean;
  /** What the model was told; `""` if the run ended before. */
  readonly text: string;
  /** Whether the model was told of an error; `false` if the run ended before. */
  readonly isError: boolean;
}

/** Of one run, as its model requested them; runs that it started have their own calls. */
export function listToolCalls(events: readonly RunEvent[], runId: string): readonly TestedCall[] {
  const own = events.filter((event) => event.runId === runId);
  const called = own.filter((event) => event.type === "tool-called");
  const finished = own.filter((event) => event.type === "tool-finished");
  const asked = own.flatMap((event) => (event.type === "model-answered" ? event.parts : []));
  return asked.flatMap((part): readonly TestedCall[] => {
    if (part.type !== "tool-call") return [];
    const { callId, tool, input } = part;
    const { text = "", isError = false } = finished.findLast((event) => event.callId === callId) ?? {};
    const { decision = "deny" } = called.findLast((event) => event.callId === callId) ?? {};
    return [{ tool, input, denied: decision === "deny", text, isError }];
  });
}

/** Also a `LanguageModel` for the functions of AI SDK 7. */
export interface ScriptedModel extends GivenModel {
  /** The version of the AI SDK's model interface. */
  readonly specificationVersion: "v4";
  /** Empty: the model loads no URLs itself. */
  readonly supportedUrls: Record<string, never>;
  /** Returns the next turn as a whole. Fails if the turn expects something else, or none is left. */
  doGenerate(options: never): PromiseLike<WholeAnswer>;
  /** Like `doGenerate`, as a stream. */
  doStream(options: never): PromiseLike<StreamedAnswer>;
  /** Turns not used yet. */
  readonly remaining: number;
  /** Throws unless every turn was used. */
  assertDone(): void;
}

/**
 * A model that answers from a script, turn by turn; a request that doesn't match the turn fails. Throws `UsageError`
 * for an unknown key.
 *
 * @example
 * ```ts
 * const model = createScriptedModel([{ answer: { text: "Hello." } }]);
 * const metier = await createMetier({ models: { default: model } });
 * const { text } = await metier.run({ skill: "greet" });
 * model.assertDone();
 * ```
 */
export function createScriptedModel(script: Script, name?: string): ScriptedModel {
  checkScriptKeys("createScriptedModel", script);
  return createModel(script, name);
}
