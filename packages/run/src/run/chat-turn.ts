/**
 * One turn of a chat: a run without a skill in which the main agent answers one message. Skills it uses see no more
 * than the chat does, count toward its budget, and pre-approve nothing beyond this turn. Also handles `/name` in a
 * message, which may not need the main agent.
 */
import { presentFields } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { cleanText, nearestNames } from "@metier/base/text";
import type { World } from "@metier/sandbox";
import type { Redactor } from "@metier/sandbox/secrets";
import { hasFolder, neutralise, type Skill } from "@metier/skills";
import type { ModelMessage } from "ai";
import type { CustomCommand } from "../agents/load-commands.ts";
import { type DurableRunParts, holdToStart, restoreFolder } from "../durable/durable-run.ts";
import { followSkills } from "../durable/followed-skills.ts";
import type { ConversationMemory } from "../invoke/conversation-trust.ts";
import { type Caller, decideAccess, type InvocationRefusal } from "../invoke/invocation.ts";
import { readArguments, substituteArguments } from "../invoke/render-body.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import type { ToolLists } from "../tools/policy-rules.ts";
import { type CarriedOut, carryOut } from "./carry-out.ts";
import type { ChatOffer, ChatOptions, SendOptions } from "./chat-options.ts";
import { openBudget } from "./day-budget.ts";
import { invokeAnywhere, invokeSkill } from "./invoke-skill.ts";
import { chooseLeanTools } from "./lean-tools.ts";
import { loadLoopSoon } from "./loop.ts";
import {
  giveRun,
  openRecorder,
  type RunContext,
  type RunGiven,
  type RunParent,
  type RunSubject,
} from "./run-context.ts";
import { type Budget, chooseLimits } from "./run-limits.ts";
import { openRunPlace } from "./run-place.ts";
import { createApprovals, createChatPolicy, denyOnly, skillLists } from "./run-policy.ts";
import type { RunHost, RunRequest } from "./run-request.ts";
import { failedResult, type RunResult, refusedResult } from "./run-result.ts";
import { ownTools } from "./run-tools.ts";
import { chatPrompt } from "./system-prompt.ts";

/** What all turns of a chat share. */
export interface ChatState {
  readonly host: RunHost;
  readonly options: ChatOptions;
  readonly model: ResolvedModel;
  readonly memory: ConversationMemory;
  readonly budget: Budget;
  /** Calls the user approved for the whole conversation. */
  readonly approved: Set<string>;
  readonly redactor: Redactor;
  /** Of the skills whose instructions are in the conversation. */
  readonly skillFolders: Set<string>;
}

/** What the main agent is told. */
interface TurnMessage {
  readonly message: string;
  /** Of what the message put into the conversation. */
  readonly lists: readonly ToolLists[];
}

interface ChatTurnOrder extends SendOptions, TurnMessage {
  readonly runId: string;
  /** The run whose work folder all turns use. */
  readonly workRunId: string;
  readonly history: readonly ModelMessage[];
  /** The message as typed: without the instructions that a `/name` added. */
  readonly userMessage: string;
  /** For a turn that only writes: its own system prompt, and no tools. */
  readonly writesAs?: string | undefined;
  /** Its journal, for a turn that must survive this process. */
  readonly durable?: DurableRunParts | undefined;
}

export function runTurn(state: ChatState, order: ChatTurnOrder): Promise<CarriedOut> {
  const { runId, workRunId, userMessage, signal, record, durable } = order;
  const { maxConversationTokens: _, maxConversationCost: __, ...limits } = state.options.limits ?? {};
  const request = { ...inheritOptions(state.options), limits, userMessage, signal, record };
  const given = giveRun({ runId, workRunId, host: state.host, request, invoke: invokeAnywhere, durable });
  return carryOut(given, (start) => decideTurn(state, order, start));
}

/** Decided again for each turn, because the config may have changed. */
async function decideTurn(
  state: ChatState,
  { message, history, lists, writesAs }: ChatTurnOrder,
  given: RunGiven,
): Promise<Result<RunContext, RunResult>> {
  const { host, request, durable } = given;
  const { memory, redactor, skillFolders } = state;
  const known = { trust: "trusted", redactor, conversation: memory.trust } as const;
  if (durable) await restoreFolder(durable, given.workDir);
  loadLoopSoon();
  const place = await openRunPlace({ ...given, ...known, shown: skillFolders });
  given.opened.push(place);
  const model = modelFor(given.runId, state, place.world);
  const limits = chooseLimits(host.config(), request.limits);
  const budget = openBudget(host, model, limits, state.budget);
  if (!budget.ok) return refused(failedResult(given.runId, { ...CHAT, diagnostics: [] }, budget.refusal));
  const policy = createChatPolicy(lists, given, memory, place);
  const own = ownTools(given, place, memory, () => context);
  const tools = model.lean ? chooseLeanTools(own) : own;
  const prompt = writesAs ?? chatPrompt(place.world, host.library.skills(), state.options.instructions);
  const begun = await holdToStart(prompt, given, { model, redactor });
  if (!begun.ok) return refused(failedResult(given.runId, { ...CHAT, diagnostics: [] }, begun.refusal));
  const context: RunContext = {
    ...given,
    subject: { ...CHAT, caller: request.caller ?? {} },
    isIsolated: false,
    place,
    model,
    system: begun.value,
    history,
    message,
    tools: writesAs === undefined ? policy.visible(tools) : [],
    policy,
    bound: denyOnly(policy),
    approvals: openApprovals(state, given),
    hooks: [],
    outputFilter: host.config().runs.outputFilter,
    memory,
    redactor,
    limits,
    budget: budget.value,
    recorder: await openRecorder(given, redactor),
    diagnostics: (found) => [
      ...model.diagnostics,
      ...place.diagnostics,
      ...policy.diagnostics,
      ...found,
      ...redactor.diagnostics,
    ],
    follow: followSkills({ policy, place, durable, listsOf: skillLists }),
  };
  return done(context);
}

function openApprovals(
  { approved: remembered }: ChatState,
  { host: { sessionRules }, request: { approve }, questions: queue }: RunGiven,
): RunContext["approvals"] {
  return createApprovals({ skill: CHAT.skill.name, remembered, sessionRules, queue, approve });
}

/** A replay answers each turn from the next recorded one. */
function modelFor(runId: string, { model }: ChatState, { workDir, cwd }: World): ResolvedModel {
  if (model.replay === undefined) return model;
  return { ...model, model: model.replay.modelFor({ runId, skill: CHAT.skill.name, workDir, cwd }) };
}

/** The user's own conversation, as named in logs. */
const CHAT: RunSubject = {
  skill: { name: "chat", location: "" },
  source: "user",
  caller: {},
  chain: [],
  trust: { level: "trusted", reason: "It is the user's own conversation." },
  env: {},
};

/** What a skill started in a chat gets from it. */
function inheritOptions(options: ChatOptions): Omit<RunRequest, "skill"> {
  const { caller, approve, askUser, confirm, tools, write, onEvent } = options;
  return { caller, approve, askUser, confirm, tools, write, onEvent };
}

interface TurnFacts {
  readonly runId: string;
  readonly signal: AbortSignal | undefined;
  /** Whether a `/name` is only text. */
  readonly isPlain?: boolean;
}

/** What the main agent is told; or, if it isn't needed, how the turn ended. Pasted text can contain marks like ours. */
export async function readMessage(
  typed: string,
  state: ChatState,
  facts: TurnFacts,
): Promise<Result<TurnMessage, RunResult>> {
  const { text } = cleanText(typed);
  const slash = facts.isPlain ? undefined : readSlash(text);
  if (slash === undefined) return done({ message: neutralise(text), lists: [] });
  const outcome = await callSkill(slash, typed, state, facts);
  switch (outcome.kind) {
    case "inline": {
      const { skill } = outcome.prepared;
      // From now on, its files can be read in the conversation, and its scripts started.
      if (hasFolder(skill)) state.skillFolders.add(skill.directory);
      const message = `${neutralise(text.trim())}\n\n${outcome.text}`;
      return done({ message, lists: [skillLists(outcome.prepared)] });
    }
    case "run":
      return refused(outcome.result);
    case "refused": {
      const { refusal } = outcome;
      if (refusal.reason === "not-found") return callCommand(slash, state, facts.runId);
      return refused(refusedResult(facts.runId, refusal));
    }
  }
}

/** The user's own call: it isn't limited by what the chat's agent may do, but by an untrusted text in the chat. */
function callSkill(
  { name, line }: Slash,
  typed: string,
  { host, options, memory, budget, model, redactor }: ChatState,
  { runId, signal }: TurnFacts,
): ReturnType<typeof invokeSkill> {
  const shared = { memory, budget, model, redactor };
  const parent: RunParent = { chain: [], trust: "trusted", ...shared, onChild: () => undefined };
  const given = { ...inheritOptions(options), userMessage: typed, signal };
  return invokeSkill({ ...given, skill: name, arguments: line, source: "user" }, host, { parent, runId });
}

async function callCommand(
  { name, line }: Slash,
  { host, memory, options }: ChatState,
  runId: string,
): Promise<Result<TurnMessage, RunResult>> {
  const { commands } = await host.commands();
  const command = commands.get(name);
  if (command === undefined) {
    const refusal = refuseSlash(name, await listOffers(host, options.caller ?? {}));
    return refused(refusedResult(runId, refusal));
  }
  memory.trust.note(`/${name}`, command.trust.level);
  const { body, manifest } = command;
  const text = substituteArguments(body, readArguments(line, manifest.arguments));
  return done({ message: neutralise(text), lists: [commandLists(command)] });
}

interface Slash {
  readonly name: string;
  /** What follows it, as typed. */
  readonly line: string;
}

/** `undefined` for a message: a path has a second slash, and a leading space makes it plain text. */
export function readSlash(text: string): Slash | undefined {
  const [, name, line = ""] = /^\/([\p{L}\p{N}._:-]+)(?:\s+([\s\S]*))?$/u.exec(text.trimEnd()) ?? [];
  return name === undefined ? undefined : { name, line };
}

/** By name; a skill hides a command with its name. */
export async function listOffers(host: RunHost, caller: Caller): Promise<readonly ChatOffer[]> {
  const config = host.config();
  const skills = host.userSkills().filter((skill) => decideAccess(skill, caller, config) === undefined);
  const names = new Set(skills.map(({ name }) => name));
  const { commands } = await host.commands();
  const others = [...commands.values()].filter(({ name }) => !names.has(name));
  const toOffer =
    (kind: ChatOffer["kind"]) =>
    ({ name, manifest: { description, argumentHint } }: Skill | CustomCommand): ChatOffer =>
      presentFields({ name, kind, description, argumentHint });
  return [...skills.map(toOffer("skill")), ...others.map(toOffer("command"))];
}

/** They pre-approve only for a trusted command. */
function commandLists({ name, location, trust, manifest }: CustomCommand): ToolLists {
  const { allowedTools, disallowedTools } = manifest;
  return {
    owner: `command \`/${name}\``,
    path: location,
    trust: trust.level,
    isIsolated: false,
    allowedTools,
    requiredTools: [],
    disallowedTools,
  };
}

/** The answer to a `/name` that is neither a skill nor a custom command. */
function refuseSlash(name: string, offers: readonly ChatOffer[]): InvocationRefusal {
  const names = offers.map((offer) => offer.name);
  const near = nearestNames(name, names);
  return {
    skill: name,
    reason: "not-found",
    message: `\`/${name}\` is neither a skill nor a command.`,
    hint:
      near.length > 0
        ? `Did you mean ${near.map((other) => `\`/${other}\``).join(" or ")}?`
        : "`/skills` lists them. To send a message that starts with `/`, put a space before it.",
    data: { skill: name, near },
    also: [],
  };
}
