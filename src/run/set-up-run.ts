/**
 * Everything an isolated run needs, decided before it starts: model, agent, tools and their policy, world, sandbox,
 * secrets, limits and prompt. `--dry-run` shows what this decides; `run-prepared.ts` carries it out.
 */
import type { Agent } from "../agents/agent.ts";
import { hasFolder } from "../disclose/skill-folder.ts";
import { tellOrigin } from "../disclose/tell-origin.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { refuseMissingTools } from "../invoke/checks/tools.ts";
import type { ConversationMemory } from "../invoke/inline.ts";
import type { PreparedInvocation, Refusal } from "../invoke/invocation.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import { resolveModel } from "../model/resolve-model.ts";
import type { World } from "../sandbox/world.ts";
import type { Redactor } from "../secrets/redaction.ts";
import type { Skill } from "../skill/skill.ts";
import type { OpenScriptPlace } from "../tools/scripts/run-script.ts";
import { type Tool, toolId } from "../tools/tool.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import { answerSignIn } from "./answer-sign-in.ts";
import type { QuestionQueue } from "./approvals.ts";
import { callbackHint } from "./callback-hint.ts";
import { type CapabilityNotes, createCapabilityNotes } from "./capability-notes.ts";
import { refuseWithoutSocket, reportUnlinked } from "./capability-preflight.ts";
import { chooseAgent } from "./choose-agent.ts";
import { createMemory } from "./conversation-memory.ts";
import { type Reasoning, readEffort } from "./effort.ts";
import { findHooks, type RunHook } from "./hooks/find-hooks.ts";
import { describeCaller } from "./open-capabilities.ts";
import { openRedactor } from "./open-redactor.ts";
import { createOwnCommand } from "./own-command.ts";
import { rawMessageOf } from "./raw-message.ts";
import { reportUnpriced } from "./report-unpriced.ts";
import type { RunHost } from "./run-host.ts";
import { chooseLimits, type RunLimits } from "./run-limits.ts";
import type { RunParent } from "./run-parent.ts";
import { createRunPolicy, followedLists } from "./run-policy.ts";
import type { RunRequest } from "./run-request.ts";
import { programTools, runTools } from "./run-tools.ts";
import { openRunToolsets, type RunToolsets } from "./run-toolsets.ts";
import { openSkillPlace, type SkillPlace } from "./skill-place.ts";
import { assembleSystemPrompt } from "./system-prompt.ts";
import type { InvokeFromModel } from "./use-skill.ts";

export interface RunPlan
  extends Pick<SkillPlace, "world" | "sandbox" | "network" | "reached" | "declared" | "granted"> {
  readonly runId: string;
  readonly prepared: PreparedInvocation;
  readonly model: ResolvedModel;
  readonly system: string;
  readonly message: string;
  readonly tools: readonly Tool[];
  readonly policy: ToolPolicy;
  /** Commands of the skill around its tool calls and at its end. */
  readonly skillHooks: readonly RunHook[];
  readonly memory: ConversationMemory;
  /** What its commands ask of the host. */
  readonly capabilityNotes: CapabilityNotes;
  readonly redactor: Redactor;
  readonly limits: RunLimits;
  readonly reasoning?: Reasoning;
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The instructions of another skill are in the run's conversation now: what it disallows is denied from here on, and
   * its files can be read where the run sees more than its own folders.
   */
  follow(other: PreparedInvocation): void;
  /** Ends what was opened for the run; to be called once, however it went. */
  close(): Promise<void>;
}

/** Something a run cannot do without is missing, or what the skill asks for cannot be given. */
export interface PlanFault {
  readonly code: "model.missing" | "agent.missing" | "agent.cycle";
  readonly message: string;
  readonly hint: string;
}

export type PlanOutcome =
  | { readonly ok: true; readonly plan: RunPlan }
  | { readonly ok: false; readonly fault: PlanFault }
  /** By a check that could only be made now. */
  | { readonly ok: false; readonly refusal: Refusal };

export interface PlanInput {
  readonly runId: string;
  /** Exists, and is the run's own. */
  readonly workDir: string;
  readonly prepared: PreparedInvocation;
  readonly request: RunRequest;
  readonly host: RunHost;
  readonly parent?: RunParent;
  /** Only to see what would happen: no key is fetched. */
  readonly isDry?: boolean;
  /** Where questions to a person wait. */
  readonly questions: QuestionQueue;
  /** How the run's own `use_skill` starts another skill. */
  readonly invoke: InvokeFromModel;
  /** Where its `run_script` runs scripts of other skills. */
  readonly openScript: OpenScriptPlace;
}

/** What was opened for a plan is closed again when it comes to nothing. */
export async function setUpRun(input: PlanInput): Promise<PlanOutcome> {
  const opened: Opened[] = [];
  try {
    const outcome = await decide(input, opened);
    if (!outcome.ok) await closeAll(opened);
    return outcome;
  } catch (fault) {
    await closeAll(opened);
    throw fault;
  }
}

interface Opened {
  close(): Promise<void>;
}

async function closeAll(opened: Opened[]): Promise<void> {
  for (const part of opened.splice(0).reverse()) await part.close();
}

async function decide(input: PlanInput, opened: Opened[]): Promise<PlanOutcome> {
  const { prepared, host, request, parent, runId, workDir } = input;
  const { skill, trust } = prepared;
  const agent = await chooseAgent(prepared, host);
  if (!agent.ok) return agent;
  const { isDry = false } = input;
  const memory = createMemory();
  const redactor = openRedactor(input);
  const capabilityNotes = createCapabilityNotes();
  const place = await openSkillPlace({
    skill,
    trust: trust.level,
    host,
    run: { runId, redactor, capabilityNotes, questions: input.questions },
    workDir,
    request,
    isDry,
    conversation: memory.trust,
    ...(parent && { parent }),
  });
  opened.push(place);
  const unreachable = refuseWithoutSocket(skill, place.sandbox);
  if (unreachable) return { ok: false, refusal: unreachable };
  const model = await chooseModel(input, agent.agent, place.world);
  if (!model.ok) return { ok: false, fault: { ...model, code: "model.missing" } };
  for (const secret of model.secrets) redactor.add(secret);
  const { network } = place;
  const others = runTools({
    host,
    request,
    skill,
    trust: trust.level,
    network,
    backend: place.sandbox?.backend,
    invoke: input.invoke,
    openScript: input.openScript,
    conversation: memory.trust,
  });
  const limits = limitsOf(input, agent.agent);
  const toolsets = await openRunToolsets({
    prepared,
    host,
    place,
    memory,
    redactor,
    limits,
    others,
    isDry,
    signal: request.signal,
  });
  opened.push(toolsets);
  const refusal = refuseWithout(skill, others, toolsets);
  if (refusal) return { ok: false, refusal };
  const policy = createRunPolicy({
    prepared,
    host,
    request,
    memory,
    cwd: place.world.cwd,
    ...(toolsets.names && { ownTools: toolsets.names }),
    ...(agent.agent && { agent: agent.agent }),
    ...(parent?.policy && { outer: parent.policy }),
  });
  const hooks = findHooks(skill, {
    trust: trust.level,
    cwd: place.world.cwd,
    hostTools: programTools(host, request).map(({ name }) => name),
    own: { skill: skill.name, ...(toolsets.names && { tools: toolsets.names }) },
    isBare: !host.config().config.skills.namespaceTools,
  });
  const reasoning = readEffort(skill.manifest.effort);
  const hint = await tellSignIn(input, redactor);
  const plan: RunPlan = {
    runId,
    prepared,
    model,
    system: assembleSystemPrompt({
      skill: skill.name,
      authors: skill.manifest.authors,
      ...(skill.remote && { origin: tellOrigin(skill.remote) }),
      instructions: prepared.instructions,
      capabilities: skill.manifest.capabilities,
      ...(agent.agent && { role: agent.agent.systemPrompt }),
      ...(agent.preloaded !== undefined && { preloaded: agent.preloaded }),
      ...(skill.manifest.rationale !== undefined && { rationale: skill.manifest.rationale }),
      ...(place.world.skillDir !== undefined && { skillDirectory: place.world.skillDir }),
      ...(hint !== undefined && { capabilityHint: hint }),
      ...(prepared.context !== undefined && { callerContext: prepared.context }),
    }),
    message: firstMessage(prepared),
    tools: policy.visible([...others, ...toolsets.tools]),
    policy,
    get world() {
      return place.world;
    },
    follow(other) {
      policy.activate(followedLists(other));
      if (hasFolder(other.skill)) place.show(other.skill.directory);
    },
    ...(place.sandbox && { sandbox: place.sandbox }),
    network,
    reached: place.reached,
    declared: place.declared,
    granted: place.granted,
    skillHooks: hooks.hooks,
    memory,
    capabilityNotes,
    redactor,
    limits,
    ...(reasoning && { reasoning }),
    diagnostics: [
      ...prepared.diagnostics,
      ...place.diagnostics,
      ...toolsets.diagnostics,
      ...(await reportUnlinked(skill, host.capabilities, request.caller)),
      ...model.diagnostics,
      ...reportUnpriced(limits, model),
      ...policy.diagnostics,
      ...hooks.diagnostics,
      ...redactor.diagnostics,
    ],
    close: () => closeAll(opened),
  };
  return { ok: true, plan };
}

/** Whether tools are missing that a skill with toolsets requires; of other skills this was asked before. */
function refuseWithout(skill: Skill, others: readonly Tool[], toolsets: RunToolsets): Refusal | undefined {
  const { tools, names, diagnostics } = toolsets;
  if (skill.manifest.toolsets.length === 0 || names === undefined) return undefined;
  const every = [...others, ...tools].flatMap((tool) => [tool.name, toolId(tool)]);
  const missing = refuseMissingTools(skill, [...new Set([...every, ...names])]);
  if (missing === undefined) return undefined;
  const hint = [missing.hint, ...diagnostics.map(({ message }) => message)].join(" ");
  return { ...missing, hint, skill: skill.name, also: [] };
}

/** In a mere plan nothing is completed. */
async function tellSignIn(
  { prepared: { skill }, request, host, runId, isDry }: PlanInput,
  redactor: Redactor,
): Promise<string | undefined> {
  const message = rawMessageOf(request);
  const caller = describeCaller(skill, request, runId);
  const { capabilities } = host;
  if (isDry || !capabilities || !caller) return callbackHint(skill.manifest.capabilities, message);
  return answerSignIn({ capabilities, caller, message, redactor });
}

function chooseModel(
  { prepared: { skill }, request, host, parent, runId, isDry = false }: PlanInput,
  agent: Agent | undefined,
  world: World,
): ReturnType<typeof resolveModel> {
  const wanted = skill.manifest.model ?? agent?.model;
  return resolveModel({
    config: host.config().config,
    environment: host.environment,
    skill: { name: skill.name, location: skill.location, ...(wanted !== undefined && { model: wanted }) },
    ...(request.model !== undefined && { asked: request.model }),
    ...(host.models && { given: host.models }),
    ...(parent?.model && { caller: parent.model }),
    run: {
      runId,
      skill: skill.name,
      workDir: world.workDir,
      cwd: world.cwd,
      ...(world.skillDir !== undefined && { skillDir: world.skillDir }),
      ...(parent?.runId !== undefined && { parentRunId: parent.runId }),
    },
    ...(!isDry && { runCommand: createOwnCommand(host.environment) }),
  });
}

function limitsOf({ prepared: { skill }, request, host }: PlanInput, agent: Agent | undefined): RunLimits {
  const wanted = skill.manifest.maxIterations ?? agent?.maxIterations;
  const own = wanted === undefined ? undefined : { maxIterations: wanted };
  return chooseLimits(host.config().config, own, request.limits);
}

function firstMessage({ message, input }: PreparedInvocation): string {
  const parts = [message, input === undefined ? undefined : `Input:\n${JSON.stringify(input, null, 2)}`];
  return parts.filter(Boolean).join("\n\n") || "Carry out your task.";
}
