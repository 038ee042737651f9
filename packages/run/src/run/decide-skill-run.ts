/**
 * Everything a skill's run needs, decided before it starts: agent, place, model, tools and their policy, hooks, limits
 * and prompt. `--dry-run` shows this; `carry-out.ts` carries it out.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { done, type Result, refused } from "@metier/base/result";
import type { World } from "@metier/sandbox";
import { type Skill, tellOrigin } from "@metier/skills";
import { describeCycle, findAgent, findCycle, type NamedAgent, preloadSkills } from "../agents/agent.ts";
import { holdToStart, recallMemory, restoreFolder } from "../durable/durable-run.ts";
import { followSkills } from "../durable/followed-skills.ts";
import { refuseMissingTools } from "../invoke/check-needs.ts";
import type { InvocationRefusal, PreparedInvocation } from "../invoke/invocation.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import { resolveModel } from "../model/resolve-model.ts";
import { type Tool, toolId } from "../tools/tool.ts";
import { answerSignIn, refuseWithoutSocket, reportUnlinked } from "./capability-preflight.ts";
import { openBudget, refuseWrongLimits } from "./day-budget.ts";
import { findHooks } from "./hooks/skill-hooks.ts";
import { chooseLeanTools } from "./lean-tools.ts";
import { loadLoopSoon, readEffort } from "./loop.ts";
import { decideOutput } from "./output-contract.ts";
import { type DecidedRun, openRecorder, type RunContext, type RunGiven } from "./run-context.ts";
import { chooseLimits, type RunLimits } from "./run-limits.ts";
import { openRunPlace } from "./run-place.ts";
import { createApprovals, createRunPolicy, followedLists, type GrowingPolicy } from "./run-policy.ts";
import { modelPlace, type RunHost } from "./run-request.ts";
import { failedResult, type RunResult, refusedResult, type StartFault } from "./run-result.ts";
import { createOwnCommand, openRedactor } from "./run-secrets.ts";
import { openRunToolsets, ownTools, type RunToolsets } from "./run-tools.ts";
import { assembleSystemPrompt } from "./system-prompt.ts";

export async function decideSkillRun(
  prepared: PreparedInvocation,
  given: RunGiven,
): Promise<Result<RunContext, RunResult>> {
  const { host, request, runId, durable } = given;
  const { skill } = prepared;
  const chosen = await chooseAgent(prepared, host);
  if (!chosen.ok) return refused(failedResult(runId, prepared, chosen.refusal));
  const { agent } = chosen.value;
  const output = await decideOutput(skill, request.output);
  if (!output.ok) return refused(failedResult(runId, prepared, output.refusal));
  const memory = recallMemory(durable);
  const redactor = openRedactor(prepared, given);
  const place = await openPlace(prepared, given, { redactor, conversation: memory.trust });
  const barred = refuseHere(prepared, given, place);
  if (barred) return refused(barred);
  const choice = await chooseModel(skill, given, agent, place.world);
  if (!choice.ok) return refused(failedResult(runId, prepared, { code: "model.missing", ...choice.refusal }));
  const model = choice.value;
  for (const secret of model.secrets) redactor.add(secret);
  const limits = chooseLimits(host.config(), ownLimits(skill, agent), request.limits);
  const budget = openBudget(host, model, limits, given.parent?.budget ?? host.budget);
  if (!budget.ok) return refused(failedResult(runId, prepared, budget.refusal));
  const decided = { prepared, agent, memory, redactor, place, limits };
  const equipped = await equip(decided, given, () => context);
  if (!equipped.ok) return refused(refusedResult(runId, equipped.refusal));
  const { policy } = equipped.value;
  const tools = model.lean ? trimTools(equipped.value.tools, prepared, host) : equipped.value.tools;
  const prompt = await writePrompt(prepared, given, chosen.value, { ...decided, output: output.value });
  const begun = await holdToStart(prompt, given, { model, redactor }, prepared);
  if (!begun.ok) return refused(failedResult(runId, prepared, begun.refusal));
  const planned = await reportDecisions(decided, model, equipped.value, given);
  const context: RunContext = {
    ...given,
    subject: prepared,
    isIsolated: true,
    place,
    model,
    system: begun.value,
    history: [],
    message: firstMessage(prepared),
    tools,
    policy,
    bound: policy,
    approvals: openApprovals(skill, given),
    hooks: equipped.value.hooks.hooks,
    outputFilter: host.config().runs.outputFilter,
    memory,
    redactor,
    limits,
    reasoning: readEffort(skill.manifest.effort),
    output: output.value,
    budget: budget.value,
    recorder: await openRecorder(given, redactor),
    diagnostics: (found) => [...planned, ...found],
    follow: followSkills({ ...given, policy, place, listsOf: followedLists }),
  };
  return done(context);
}

function refuseHere(
  prepared: PreparedInvocation,
  { runId, host }: RunGiven,
  { sandbox }: RunContext["place"],
): RunResult | undefined {
  const unreachable = refuseWithoutSocket(prepared.skill, sandbox);
  if (unreachable) return refusedResult(runId, unreachable);
  const wrong = refuseWrongLimits(host);
  return wrong && failedResult(runId, prepared, wrong);
}

/** Closed with everything else the run opened. */
async function openPlace(
  { skill, trust }: PreparedInvocation,
  given: RunGiven,
  known: Pick<Parameters<typeof openRunPlace>[0], "redactor" | "conversation">,
): Promise<RunContext["place"]> {
  if (given.durable) await restoreFolder(given.durable, given.workDir);
  if (!given.isDry) loadLoopSoon();
  const place = await openRunPlace({ ...given, ...known, skill, trust: trust.level });
  given.opened.push(place);
  return place;
}

function openApprovals({ name }: Skill, { host, request, questions }: RunGiven): RunContext["approvals"] {
  const { approve } = request;
  return createApprovals({ skill: name, queue: questions, approve, sessionRules: host.sessionRules });
}

function ownLimits({ manifest }: Skill, agent: NamedAgent | undefined): Partial<RunLimits> {
  const maxIterations = manifest.maxIterations ?? agent?.maxIterations;
  return maxIterations === undefined ? {} : { maxIterations };
}

async function reportDecisions(
  { prepared, place, redactor }: DecidedRun,
  model: ResolvedModel,
  { toolsets, policy, hooks }: Equipment,
  { host, request }: RunGiven,
): Promise<readonly Diagnostic[]> {
  return [
    ...prepared.diagnostics,
    ...place.diagnostics,
    ...toolsets.diagnostics,
    ...(await reportUnlinked(prepared.skill, host.capabilities, request.caller)),
    ...model.diagnostics,
    ...policy.diagnostics,
    ...hooks.diagnostics,
    ...redactor.diagnostics,
  ];
}

interface Equipment {
  readonly tools: readonly Tool[];
  readonly toolsets: RunToolsets;
  readonly policy: GrowingPolicy;
  readonly hooks: ReturnType<typeof findHooks>;
}

/** Its tools, their policy, and the hooks around them. */
async function equip(
  decided: DecidedRun,
  given: RunGiven,
  context: () => RunContext,
): Promise<Result<Equipment, InvocationRefusal>> {
  const { prepared, place, memory } = decided;
  const others = ownTools(given, place, memory, context, prepared);
  const toolsets = await openRunToolsets(decided, given, others);
  given.opened.push(toolsets);
  const refusal = refuseWithout(prepared.skill, others, toolsets);
  if (refusal) return refused(refusal);
  const policy = createRunPolicy(decided, given, toolsets.names);
  const hooks = findHooks(decided, given, toolsets.names);
  return done({ tools: policy.visible([...others, ...toolsets.tools]), toolsets, policy, hooks });
}

/** For a small model: the tools that the skill names, or that its text needs. */
function trimTools(
  tools: readonly Tool[],
  { skill, instructions }: PreparedInvocation,
  { library }: RunHost,
): readonly Tool[] {
  const { allowedTools = [], requiredTools } = skill.manifest;
  const others = library.skills().flatMap(({ name }) => (name === skill.name ? [] : [name]));
  return chooseLeanTools(tools, { named: [...allowedTools, ...requiredTools], instructions, others });
}

/** Whether tools that a skill with toolsets requires are missing; for other skills, this was checked before. */
function refuseWithout(
  skill: Skill,
  others: readonly Tool[],
  toolsets: RunToolsets,
): InvocationRefusal | undefined {
  const { tools, names, diagnostics } = toolsets;
  if (skill.manifest.toolsets.length === 0 || names === undefined) return undefined;
  const every = [...others, ...tools].flatMap((tool) => [tool.name, toolId(tool)]);
  const missing = refuseMissingTools(skill, [...new Set([...every, ...names])]);
  if (missing === undefined) return undefined;
  const hint = [missing.hint, ...diagnostics.map(({ message }) => message)].join(" ");
  return { ...missing, hint, skill: skill.name, also: [] };
}

async function writePrompt(
  prepared: PreparedInvocation,
  given: RunGiven,
  { agent, preloaded }: ChosenAgent,
  { redactor, place, output }: DecidedRun & Pick<RunContext, "output">,
): Promise<string> {
  const { skill } = prepared;
  const { authors, capabilities, rationale } = skill.manifest;
  return assembleSystemPrompt({
    skill: skill.name,
    authors,
    origin: skill.remote && tellOrigin(skill.remote),
    instructions: prepared.instructions,
    capabilities,
    role: agent?.systemPrompt,
    preloaded,
    rationale,
    skillDirectory: place.world.skillDir,
    capabilityHint: await answerSignIn(skill, given, redactor),
    callerContext: prepared.context,
    outputSchema: output?.schema,
  });
}

function chooseModel(
  { name, location, manifest }: Skill,
  { request, host, parent, runId, isDry }: RunGiven,
  agent: NamedAgent | undefined,
  { workDir, cwd, skillDir }: World,
): ReturnType<typeof resolveModel> {
  return resolveModel({
    config: host.config(),
    ...modelPlace(host),
    skill: { name, location, model: manifest.model ?? agent?.model },
    asked: request.model,
    given: host.models,
    caller: parent?.model,
    run: { runId, skill: name, workDir, cwd, skillDir, parentRunId: parent?.runId },
    runCommand: isDry ? undefined : createOwnCommand(host),
  });
}

function firstMessage({ message, input }: PreparedInvocation): string {
  const parts = [message, input === undefined ? undefined : `Input:\n${JSON.stringify(input, null, 2)}`];
  return parts.filter(Boolean).join("\n\n") || "Carry out your task.";
}

interface ChosenAgent {
  readonly agent?: NamedAgent;
  /** The preloaded instructions, wrapped. */
  readonly preloaded?: string;
}

/** The agent that a fork names, with its preloaded skills; a fork that names none gets a temporary one. */
async function chooseAgent(
  { skill }: PreparedInvocation,
  host: RunHost,
): Promise<Result<ChosenAgent, StartFault>> {
  const { context, agent: name } = skill.manifest;
  if (context !== "fork" || name === undefined) return done({});
  const { agents } = await host.agents();
  const found = findAgent(agents, name);
  if (!found.ok) return refused({ ...found.refusal, code: "agent.missing" });
  const cycle = findCycle(skill.name, {
    agents,
    manifestOf: (other) => host.library.skills().find((known) => known.name === other)?.manifest,
  });
  if (cycle) {
    const message = `Skill \`${skill.name}\` would start itself again: ${describeCycle(cycle)}.`;
    return refused({ code: "agent.cycle", message, hint: "Remove one of them from an agent's `skills`." });
  }
  const agent = found.value;
  const loaded = await preloadSkills(agent, (other) => host.library.getInstructions(other));
  if (!loaded.ok) return refused({ ...loaded.refusal, code: "agent.missing" });
  const fault = refuseGiven(agent, loaded.value.skills, host);
  return fault ? refused(fault) : done({ agent, preloaded: loaded.value.text });
}

/** The text of a skill that isn't for this model, or isn't trusted, must not enter through an agent. */
function refuseGiven(
  { name }: NamedAgent,
  given: readonly string[],
  { library }: RunHost,
): StartFault | undefined {
  const usable = new Map(library.skills().map((skill) => [skill.name, skill]));
  const other = given.find((skill) => usable.get(skill)?.trust.level !== "trusted");
  if (other === undefined) return undefined;
  const skill = usable.get(other);
  return {
    code: "agent.missing",
    message: `The agent \`${name}\` preloads the skill \`${other}\`, which is ${skill ? "untrusted" : "not for this model"}.`,
    hint: skill?.trust.reason ?? "Remove it from the agent's `skills`.",
  };
}
