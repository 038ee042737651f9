/**
 * What a `Metier` does with a skill: prepare, activate, run. The stages behind it (models, tools, sandbox) are loaded by
 * the first call, so that whoever only reads skills does not pay for them.
 */
import type { GivenAgent } from "../agents/agent.ts";
import type { LoadedAgents } from "../agents/load-agents.ts";
import type { LoadedCommands } from "../agents/load-commands.ts";
import type { GivenSkill } from "../catalog/given-skills.ts";
import { visibleSkills } from "../disclose/visible-skills.ts";
import { createRunId } from "../events/run-id.ts";
import type { Environment } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";
import type { SkillSources } from "../invoke/find-skill.ts";
import type { Caller, PrepareOutcome } from "../invoke/invocation.ts";
import type { Chat, ChatOptions } from "../run/chat.ts";
import {
  type ConversationTool,
  type ConversationToolOptions,
  createConversationTool,
} from "../run/conversation-tool.ts";
import { hideRestricted } from "../run/hide-restricted.ts";
import type { InvokeOutcome } from "../run/invoke-outcome.ts";
import type { SkillOffer, SkillOfferOptions } from "../run/offer-skills.ts";
import type { RunCapabilities } from "../run/run-capabilities.ts";
import { type RunHandle, startHandle } from "../run/run-handle.ts";
import type { PrepareOptions, RunHost } from "../run/run-host.ts";
import type { RunOutline } from "../run/run-outline.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { RunResult } from "../run/run-result.ts";
import type { ScriptRequest, ScriptResult } from "../run/script-result.ts";
import type { SetUpOptions, SkillSetUp } from "../run/set-up-skill.ts";
import { openSkillStore, type SkillStore, type StoreOptions } from "../run/skill-store.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import type { SkillLibrary } from "../tools/skills/skill-tool.ts";
import type { Profile } from "../validate/profiles.ts";
import type { Disclosure } from "./disclosure.ts";
import type { Holding } from "./holding.ts";
import type { MetierState } from "./load-state.ts";
import type { RunningOptions } from "./metier-options.ts";
import type { ReadySkill } from "./remote.ts";

export interface Running {
  /** Whether and how a skill would be carried out, by all checks; no model is asked. */
  prepare(request: RunRequest): Promise<PrepareOutcome>;
  /**
   * The skill's text for the caller's own conversation; one that says `context: fork` is run instead, or refused where
   * `canRun` is `false`.
   */
  activate(request: RunRequest, options?: { readonly canRun?: boolean }): Promise<InvokeOutcome>;
  /** Inline or isolated, as the skill and `skills.default-execution` say: what a `use_skill` tool does. */
  invoke(request: RunRequest): Promise<InvokeOutcome>;
  /** Runs a skill in isolation, whatever it says. Refusals, limits and faults are results. */
  run(request: RunRequest): Promise<RunResult>;
  /** The same in the background. */
  start(request: RunRequest): RunHandle;
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
   */
  offerSkills(options?: SkillOfferOptions): Promise<SkillOffer>;
  /** A conversation with a main agent that may use every usable skill. */
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

export type PlannedRun =
  | { readonly ok: true; readonly outline: RunOutline }
  | { readonly ok: false; readonly result: RunResult };

export interface RunningInputs {
  current(): MetierState;
  reload(): Promise<unknown>;
  given(): readonly GivenSkill[];
  readonly disclosure: Disclosure;
  readonly holding: Holding;
  readonly ready: ReadySkill;
  readonly options: RunningOptions;
  readonly profile: Profile;
  readonly places: Places;
  readonly cwd: string;
  readonly environment: Environment;
  readonly capabilities: RunCapabilities;
}

export function createRunning(inputs: RunningInputs): Running {
  const host = createHost(inputs);
  const stage = () => import("../run/invoke-skill.ts");
  const trustOf = (name: string): Trust | undefined => inputs.current().catalog.get(name)?.trust.level;
  const start = (request: RunRequest): RunHandle => {
    const runId = createRunId();
    return startHandle(runId, request.signal, async ({ signal, onEvent }) => {
      const { runSkill } = await stage();
      const tell = (event: Parameters<typeof onEvent>[0]): void => {
        onEvent(event);
        request.onEvent?.(event);
      };
      return runSkill({ ...request, signal, onEvent: tell }, host, runId);
    });
  };
  return {
    async prepare(request) {
      const { prepareRequest } = await stage();
      return prepareRequest(request, host, { isDry: true });
    },
    async activate(request, { canRun = true } = {}) {
      const { invokeSkill } = await stage();
      return invokeSkill(request, host, { asked: "text", canRun });
    },
    async invoke(request) {
      const { invokeSkill } = await stage();
      return invokeSkill(request, host);
    },
    run: (request) => start(request).result,
    start,
    useSkillTool: (options = {}) => createConversationTool(host, options, trustOf),
    skillLibrary: (caller) => hideRestricted(host, caller).library,
    async offerSkills(options = {}) {
      const { offerSkills } = await import("../run/offer-skills.ts");
      return offerSkills(host, options, trustOf);
    },
    async chat(chatOptions) {
      const { createChat } = await import("../run/chat.ts");
      return createChat(host, chatOptions);
    },
    async script(request) {
      const { runSkillScript } = await import("../run/run-skill-script.ts");
      return runSkillScript(request, host, createRunId());
    },
    store: (skill, options) =>
      openSkillStore(inputs.places, inputs.current().catalog.require(skill), options),
    async plan(request) {
      const { planRun } = await stage();
      return planRun(request, host, createRunId());
    },
    async setUp(name, options = {}) {
      const { findSkill } = await import("../invoke/find-skill.ts");
      const { setUpSkill } = await import("../run/set-up-skill.ts");
      const { found, state } = await findSkill(name, skillSources(inputs));
      if (found?.fault) throw found.fault;
      return setUpSkill(found?.skill ?? state.catalog.require(name), host, options);
    },
  };
}

/** What the running stage is given of everything else. */
export function createHost(inputs: RunningInputs): RunHost {
  const { current, disclosure, holding, options, places, cwd, environment, capabilities } = inputs;
  let loaded: { readonly state: MetierState; readonly agents: Promise<LoadedAgents> } | undefined;
  return {
    places,
    cwd,
    environment,
    tools: options.tools ?? [],
    ...(options.models && { models: options.models }),
    ...(options.search && { search: options.search }),
    capabilities,
    config: () => current().config,
    library: {
      ...disclosure,
      whyHeld: holding.whyHeld,
      skills: () => visibleSkills(current().catalog.list()),
    },
    trustNow: (skill) => current().trustOnUse(skill).trust.level,
    agents() {
      const state = current();
      if (loaded?.state !== state) loaded = { state, agents: readAgents(state, options.agents ?? []) };
      return loaded.agents;
    },
    userSkills: () => current().catalog.list().filter(isForUsers),
    commands: () => readCommands(current()),
    prepare: (invocation, prepareOptions) => prepare(invocation, prepareOptions, inputs),
  };
}

function isForUsers({ status, manifest }: Skill): boolean {
  return status === "enabled" && manifest.userInvocable;
}

async function readCommands({ roots, embedding, grants, config }: MetierState): Promise<LoadedCommands> {
  const { loadCommands } = await import("../agents/load-commands.ts");
  const { trustedPaths } = config.config.skills;
  return loadCommands({ roots, embedding, folderGrants: grants.folders, trustedPaths });
}

async function readAgents(state: MetierState, given: readonly GivenAgent[]): Promise<LoadedAgents> {
  const { loadAgents } = await import("../agents/load-agents.ts");
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

async function prepare(
  invocation: Parameters<RunHost["prepare"]>[0],
  { tools, asked, conversation, env, privateFiles, signal, isDry, canRun = true }: PrepareOptions,
  inputs: RunningInputs,
): Promise<PrepareOutcome> {
  const { current, holding, environment, places, cwd, capabilities } = inputs;
  const { prepareInvocation } = await import("../invoke/prepare.ts");
  const { createPreflight } = await import("../run/capability-preflight.ts");
  const { createSecretMachine, DRY_MACHINE, findCommandPlace } = await import("../run/prepare-parts.ts");
  return prepareInvocation(invocation, {
    ...skillSources(inputs),
    environment,
    tools,
    canRun,
    heldBack: holding.heldBack,
    capabilities: createPreflight(capabilities),
    maxDepth: current().config.config.runs.maxDepth,
    machine: isDry ? DRY_MACHINE : createSecretMachine(environment),
    ...(!isDry && {
      commandPlace: (skill: Skill) =>
        findCommandPlace({ skill, places, cwd, environment, loaded: current().config, privateFiles, signal }),
    }),
    ...(asked && { asked }),
    ...(conversation && { conversation }),
    ...(env && { env }),
  });
}
