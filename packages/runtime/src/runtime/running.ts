/**
 * What a `Metier` does with a skill: prepare, activate, run. The stages behind it (models, tools, sandbox) are loaded by
 * the first call, so that whoever only reads skills does not pay for them.
 */
import { openHostCalls } from "@metier/base/diagnostic";
import { presentFields } from "@metier/base/json";
import { once } from "@metier/base/turns";
import {
  type Caller,
  type Chat,
  type ChatOptions,
  type ConversationTool,
  type ConversationToolOptions,
  checkCallOptions,
  checkRequest,
  configFilesOf,
  createConversationTool,
  foldersOf,
  type GivenAgent,
  type GivenSchema,
  hideRestricted,
  type InvokeOutcome,
  type LoadedAgents,
  type LoadedCommands,
  openHandle,
  openSkillStore,
  type PrepareOptions,
  type PrepareOutcome,
  type ResultFor,
  type RunCapabilities,
  type RunHandle,
  type RunHost,
  type RunOutline,
  type RunRequest,
  type RunResult,
  type ScriptRequest,
  type ScriptResult,
  type SetUpOptions,
  type SkillLibrary,
  type SkillOffer,
  type SkillOfferOptions,
  type SkillSetUp,
  type SkillSources,
  type SkillStore,
  type StoreOptions,
  skillTools,
} from "@metier/run";
import { createRunId, type RunKeeping } from "@metier/run/events";
import { type Skill, type Trust, visibleSkills } from "@metier/skills";
import type { Disclosure, Tiers } from "./disclosure.ts";
import { createDurableRuns, type DurableRuns } from "./durable-runs.ts";
import type { MetierParts, MetierState } from "./load-state.ts";
import type { RunningOptions } from "./metier-options.ts";
import { checkReading } from "./reading-options.ts";
import type { ReadySkill } from "./remote.ts";
import type { ScanGate } from "./scanning.ts";

/** What is done with skills: check and run them, and offer them to a model. */
export interface Running {
  /** Whether and how a skill would be carried out, by all checks; no model is asked. */
  prepare(request: RunRequest): Promise<PrepareOutcome>;
  /**
   * The skill's text for the caller's own conversation; one that says `context: fork` is run instead, or refused where
   * `canRun` is `false`.
   */
  activate(
    request: RunRequest,
    options?: {
      /** Whether a skill that forks is run. Default: `true`. */
      readonly canRun?: boolean;
    },
  ): Promise<InvokeOutcome>;
  /** Inline or isolated, as the skill and `skills.default-execution` say: what a `use_skill` tool does. */
  invoke(request: RunRequest): Promise<InvokeOutcome>;
  /** Runs a skill in isolation, whatever it says. Refusals, limits and faults are results. */
  run<const Output extends GivenSchema | undefined = undefined>(
    request: RunRequest<Output>,
  ): Promise<ResultFor<Output>>;
  /** The same in the background. */
  start<const Output extends GivenSchema | undefined = undefined>(
    request: RunRequest<Output>,
  ): RunHandle<ResultFor<Output>>;
  /**
   * `use_skill` for a program with a loop of its own, one for each conversation; `undefined` when there is no skill a
   * model may use.
   */
  useSkillTool(options?: ConversationToolOptions): ConversationTool | undefined;
  /** The skills a model may use for this caller, as skill tools ask for them. Default: for nobody in particular. */
  skillLibrary(caller?: Caller): SkillLibrary;
  /**
   * All of it for a program with a loop of its own, one for each conversation: text for the system prompt, the tools,
   * and one way to call them. Only skills that `caller` may use are in it. The adapters are made from this.
   *
   * @example
   * ```ts
   * const { instructions, tools, call } = await metier.offerSkills({ caller: { userId: "ada" } });
   * const { text, isError } = await call("use_skill", { skill: "report" });
   * ```
   */
  offerSkills(options?: SkillOfferOptions): Promise<SkillOffer>;
  /**
   * A conversation with a main agent that may use every usable skill.
   *
   * @example
   * ```ts
   * const chat = await metier.chat({ instructions: "You are a painter's assistant." });
   * const { text } = await chat.send("I like blue.");
   * ```
   */
  chat(options?: ChatOptions): Promise<Chat>;
  /** Runs one script of a skill in its sandbox, without a model. Refusals, limits and faults are results. */
  script(request: ScriptRequest): Promise<ScriptResult>;
  /** What a skill keeps over its runs, by key. Throws `SkillNotFoundError`. */
  store(skill: string, options?: StoreOptions): SkillStore;
  /** What `run` would do, without asking a model or running anything. */
  plan(request: RunRequest): Promise<PlannedRun>;
  /**
   * What a skill wants to have installed; with `build`, the Python and Node packages that a trusted one locks are
   * installed now instead of on its first use. A name that is not known throws `SkillNotFoundError`.
   */
  setUp(skill: string, options?: SetUpOptions): Promise<SkillSetUp>;
}

/** What an adapter needs: a `Metier`, or the view of one user. */
export type OffersSkills = Pick<Running, "offerSkills">;

/** What `plan` answers with: the outline of the run, or the result that says why there would be none. */
export type PlannedRun =
  | { readonly ok: true; readonly outline: RunOutline }
  | { readonly ok: false; readonly result: RunResult };

export interface RunningInputs extends Omit<MetierParts, "cwd"> {
  readonly base: string;
  readonly disclosure: Tiers;
  readonly scanGate: ScanGate;
  readonly ready: ReadySkill;
  readonly options: RunningOptions;
  readonly capabilities: RunCapabilities;
  /** Read once for each snapshot, for everybody. */
  agents(): Promise<LoadedAgents>;
  /** What runs work on, and what else everything that is run here has. */
  readonly had: Pick<RunHost, "cwd" | "env" | "budget" | "onlyTools" | "ownModels">;
  /** Whether a skill of this name is there, but not for whoever asks here: then nothing new is looked for. */
  isHidden?(name: string): boolean;
  readonly keeping: RunKeeping;
}

export function createRunning(
  inputs: RunningInputs,
): Running & Pick<Disclosure, "skillTools"> & { readonly durable: DurableRuns } {
  const host = createHost(inputs);
  const trustOf = (name: string): Trust | undefined => inputs.current().catalog.get(name)?.trust.level;
  const skillLibrary = (caller?: Caller): SkillLibrary => {
    checkCallOptions("skillLibrary", caller);
    return hideRestricted(host, caller).library;
  };
  return {
    ...answerRequests(host),
    useSkillTool: (options = {}) => createConversationTool(host, options, trustOf),
    skillTools(options) {
      checkCallOptions("skillTools", options);
      return skillTools(skillLibrary(), options);
    },
    skillLibrary,
    durable: createDurableRuns(host, inputs.options),
    async offerSkills(options = {}) {
      const { offerSkills } = await import("@metier/run/engine");
      return offerSkills(host, options, trustOf);
    },
    async chat(chatOptions) {
      const { createChat } = await import("@metier/run/engine");
      return createChat(host, chatOptions);
    },
    store(skill, options) {
      checkCallOptions("store", options);
      return openSkillStore(inputs.places, inputs.current().catalog.require(skill), options);
    },
    setUp: createSetUp(inputs, host),
  };
}

type Requests = Pick<Running, "prepare" | "activate" | "invoke" | "run" | "start" | "script" | "plan">;

/** What is asked for by a request: each is checked before anything is loaded. */
function answerRequests(host: RunHost): Requests {
  const start = startOn(host);
  return {
    async prepare(request) {
      checkRequest("prepare", request);
      const { prepareRequest } = await import("@metier/run/engine");
      return prepareRequest(request, host, { isDry: true });
    },
    async activate(request, options = {}) {
      checkRequest("activate", request);
      const { canRun = true } = checkReading("activate", options);
      const { invokeSkill } = await import("@metier/run/engine");
      return invokeSkill(request, host, { asked: "text", canRun });
    },
    async invoke(request) {
      checkRequest("invoke", request);
      const { invokeSkill } = await import("@metier/run/engine");
      return invokeSkill(request, host);
    },
    async run(request) {
      checkRequest("run", request);
      return runOn(host, request, createRunId());
    },
    start(request) {
      checkRequest("start", request);
      return start(request);
    },
    async script(request) {
      checkRequest("script", request);
      const { runSkillScript } = await import("@metier/run/engine");
      return runSkillScript(request, host, createRunId());
    },
    async plan(request) {
      checkRequest("plan", request);
      const { planRun } = await import("@metier/run/engine");
      return planRun(request, host, createRunId());
    },
  };
}

function createSetUp(inputs: RunningInputs, host: RunHost): Running["setUp"] {
  const tell = openHostCalls(inputs.options.logger);
  return async (name, options = {}) => {
    checkCallOptions("setUp", options);
    const { onProgress } = options;
    const say = onProgress && ((message: string) => tell("onProgress", onProgress, message));
    const { findSkill } = await import("@metier/run/engine");
    const { setUpSkill } = await import("@metier/run/engine");
    const { found, state } = await findSkill(name, skillSources(inputs));
    if (found?.fault) throw found.fault;
    const skill = found?.skill ?? state.catalog.require(name);
    return setUpSkill(skill, host, { ...options, ...(say && { onProgress: say }) });
  };
}

/** Starts runs of this host, each in the background. */
function startOn(host: RunHost): Running["start"] {
  return <Output extends GivenSchema | undefined>(request: RunRequest<Output>) => {
    const runId = createRunId();
    const { signal, onEvent, follow } = openHandle(runId, request.signal, foldersOf(host));
    const tell: RunRequest["onEvent"] = (event) => {
      onEvent(event);
      return request.onEvent?.(event); // Whoever calls it hears of its fault, also by a promise.
    };
    return follow(runOn(host, { ...request, signal, onEvent: tell }, runId));
  };
}

/** What every run needs is kept, since Node looks a module up again at every `import()`. */
const loadRun = once(async () => {
  const { invokeSkill, resultOf } = await import("@metier/run/engine");
  return { invokeSkill, resultOf };
});

async function runOn<Output extends GivenSchema | undefined>(
  host: RunHost,
  request: RunRequest<Output>,
  runId: string,
): Promise<ResultFor<Output>> {
  const { invokeSkill, resultOf } = await loadRun();
  const result = resultOf(await invokeSkill(request, host, { asked: "isolated", runId }), runId);
  return result as ResultFor<Output>; // The run holds its answer to the schema that gives it this type.
}

/** What the running stage is given of everything else. */
function createHost(inputs: RunningInputs): RunHost {
  const { current, disclosure, scanGate, options, places, base, environment, capabilities } = inputs;
  const host: RunHost = {
    ...inputs.had,
    places,
    base,
    environment,
    tools: options.tools ?? [],
    ...presentFields({ models: options.models, search: options.search, isService: options.service }),
    onEvent: options.onEvent,
    logger: options.logger,
    keeping: inputs.keeping,
    capabilities,
    config: () => current().config.config,
    configFiles: () => configFilesOf(current().config),
    library: {
      ...disclosure,
      whyHeld: scanGate.whyHeld,
      skills: () => visibleSkills(current().catalog.list()),
    },
    trustNow: (skill) => current().trustOnUse(skill).trust.level,
    agents: inputs.agents,
    userSkills() {
      const all = current().catalog.list();
      return all.filter(({ status, manifest }) => status === "enabled" && manifest.userInvocable);
    },
    commands: () => readCommands(current()),
    prepare: (invocation, prepareOptions) => prepare(invocation, prepareOptions, inputs, host),
  };
  return host;
}

async function readCommands({ roots, embedding, grants, config }: MetierState): Promise<LoadedCommands> {
  const { loadCommands } = await import("@metier/run/engine");
  const { trustedPaths } = config.config.skills;
  return loadCommands({ roots, embedding, folderGrants: grants.folders, trustedPaths });
}

/** Named agents of the current snapshot, read when they are first asked for. */
export function followAgents(
  current: () => MetierState,
  given: readonly GivenAgent[] = [],
): () => Promise<LoadedAgents> {
  let loaded: { readonly state: MetierState; readonly agents: Promise<LoadedAgents> } | undefined;
  return () => {
    const state = current();
    if (loaded?.state !== state) loaded = { state, agents: readAgents(state, given) };
    return loaded.agents;
  };
}

async function readAgents(state: MetierState, given: readonly GivenAgent[]): Promise<LoadedAgents> {
  const { loadAgents } = await import("@metier/run/engine");
  const { roots, embedding, grants, config } = state;
  const { trustedPaths } = config.config.skills;
  return loadAgents({ roots, embedding, folderGrants: grants.folders, trustedPaths, given });
}

/** How a name becomes the skill that its file is now. */
function skillSources({ current, reload, given, profile, ready }: RunningInputs): SkillSources {
  const bodyOf: SkillSources["bodyOf"] = (skill) =>
    given().find(({ name }) => name === skill.name)?.instructions;
  return { current, reload, profile, bodyOf, ready: (skill) => ready(skill, true) };
}

const NOTHING_NEW = (): Promise<void> => Promise.resolve();

const loadPreparation = once(async () => {
  const { createPreflight, createSecretMachine, DRY_MACHINE, findCommandPlace, prepareInvocation } =
    await import("@metier/run/engine");
  return { createPreflight, createSecretMachine, DRY_MACHINE, findCommandPlace, prepareInvocation };
});

async function prepare(
  invocation: Parameters<RunHost["prepare"]>[0],
  { tools, request, asked, conversation, isDry, canRun = true }: PrepareOptions,
  inputs: RunningInputs,
  host: RunHost,
): Promise<PrepareOutcome> {
  const { scanGate, environment, capabilities } = inputs;
  const { createPreflight, createSecretMachine, DRY_MACHINE, findCommandPlace, prepareInvocation } =
    await loadPreparation();
  return prepareInvocation(invocation, {
    ...skillSources(inputs),
    ...(inputs.isHidden?.(invocation.skill) && { reload: NOTHING_NEW }),
    environment,
    tools,
    canRun,
    heldBack: scanGate.heldBack,
    capabilities: createPreflight(capabilities),
    maxDepth: host.config().runs.maxDepth,
    machine: isDry ? DRY_MACHINE : createSecretMachine(host),
    ...presentFields({
      commandPlace: isDry ? undefined : (skill: Skill) => findCommandPlace(skill, host, request),
      asked,
      conversation,
      env: host.env ? { ...host.env, ...request.env } : request.env,
    }),
  });
}
