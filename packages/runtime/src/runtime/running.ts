/**
 * Prepares, activates and runs skills for a `Metier`. The stages behind it (models, tools, sandbox) are loaded by the
 * first call, so reading skills doesn't pay for them.
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

/** Checks and runs skills, and offers them to a model. */
export interface Running {
  /** Whether and how a skill would run, after all checks; asks no model. */
  prepare(request: RunRequest): Promise<PrepareOutcome>;
  /**
   * The skill's text for the caller's own conversation; a skill with `context: fork` runs instead, or is refused if
   * `canRun` is `false`.
   */
  activate(
    request: RunRequest,
    options?: {
      /** Whether to run a skill that forks. Default: `true`. */
      readonly canRun?: boolean;
    },
  ): Promise<InvokeOutcome>;
  /** Inline or isolated, depending on the skill and `skills.default-execution`: what a `use_skill` tool does. */
  invoke(request: RunRequest): Promise<InvokeOutcome>;
  /** Runs a skill in isolation, whatever it declares. Refusals, limits and errors are results. */
  run<const Output extends GivenSchema | undefined = undefined>(
    request: RunRequest<Output>,
  ): Promise<ResultFor<Output>>;
  /** The same in the background. */
  start<const Output extends GivenSchema | undefined = undefined>(
    request: RunRequest<Output>,
  ): RunHandle<ResultFor<Output>>;
  /** `use_skill` for a program with its own loop, one per conversation; `undefined` if models may use no skill. */
  useSkillTool(options?: ConversationToolOptions): ConversationTool | undefined;
  /** The skills a model may use for this caller, as skill tools expect them. Default: for nobody in particular. */
  skillLibrary(caller?: Caller): SkillLibrary;
  /**
   * Everything for a program with its own loop, one per conversation: text for the system prompt, the tools, and one
   * function to call them. It has only skills that `caller` may use. The adapters build on this.
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
  /** Runs one script of a skill in its sandbox, without a model. Refusals, limits and errors are results. */
  script(request: ScriptRequest): Promise<ScriptResult>;
  /** What a skill keeps between runs, by key. Throws `SkillNotFoundError`. */
  store(skill: string, options?: StoreOptions): SkillStore;
  /** What `run` would do, without asking a model or running anything. */
  plan(request: RunRequest): Promise<PlannedRun>;
  /**
   * What a skill needs installed; with `build`, installs the Python and Node packages that a trusted skill locks now
   * instead of on first use. An unknown name throws `SkillNotFoundError`.
   */
  setUp(skill: string, options?: SetUpOptions): Promise<SkillSetUp>;
}

/** What an adapter needs: a `Metier`, or one user's view. */
export type OffersSkills = Pick<Running, "offerSkills">;

/** The result of `plan`: the outline of the run, or the result that says why it would be refused. */
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
  /** Read once per snapshot, for everyone. */
  agents(): Promise<LoadedAgents>;
  /** The folder runs work on, and what else all runs here share. */
  readonly had: Pick<RunHost, "cwd" | "env" | "budget" | "onlyTools" | "ownModels">;
  /** Whether a skill with this name exists, but is hidden from this caller: then nothing is reloaded. */
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

/** Everything that takes a request: each is checked before anything is loaded. */
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

/** Starts runs of this host in the background. */
function startOn(host: RunHost): Running["start"] {
  return <Output extends GivenSchema | undefined>(request: RunRequest<Output>) => {
    const runId = createRunId();
    const { signal, onEvent, follow } = openHandle(runId, request.signal, foldersOf(host));
    const tell: RunRequest["onEvent"] = (event) => {
      onEvent(event);
      return request.onEvent?.(event); // Returned, so that a rejected promise is noticed too.
    };
    return follow(runOn(host, { ...request, signal, onEvent: tell }, runId));
  };
}

/** What every run needs is cached, because Node resolves a module again at every `import()`. */
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
  return result as ResultFor<Output>; // The run checks its answer against the schema that gives it this type.
}

/** What the run stage gets from the rest. */
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

/** Agents of the current snapshot, read on first use. */
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

/** Resolves a name to the skill as its file is now. */
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
