/**
 * Whether a run may call a tool. Its policy: the lists of its skill and agent, the config, and its caller's rights; in
 * a chat, the lists of what entered the conversation since the user's last message; it grows as skills are followed.
 * And whether a person agrees: asked one at a time, remembered for the run. If there is nobody to ask, the answer is
 * no.
 */

import { sayFault } from "@metier/base/diagnostic";
import { CancelledError } from "@metier/base/errors";
import { showValue } from "@metier/base/text";
import type { ConfirmMutation } from "@metier/capabilities";
import { kindOf } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import type { NamedAgent } from "../agents/agent.ts";
import type { ConversationMemory } from "../invoke/conversation-trust.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { AskUser } from "../tools/ask-user.ts";
import type { ToolLists } from "../tools/policy-rules.ts";
import type { ToolInput } from "../tools/tool.ts";
import { createToolPolicy, type ToolPolicy, type ToolPolicyOptions } from "../tools/tool-policy.ts";
import type { DecidedRun, RunGiven } from "./run-context.ts";
import type { RunPlace } from "./run-place.ts";
import { programTools } from "./run-request.ts";

export interface GrowingPolicy extends ToolPolicy {
  /** From now on, these count too. */
  activate(lists: ToolLists): void;
}

/** `brought`: names of the tools that the skill provides; absent: unknown. */
export function createRunPolicy(
  { prepared, agent, memory, place }: DecidedRun,
  given: RunGiven,
  brought: readonly string[] | undefined,
): GrowingPolicy {
  const { skill, trust } = prepared;
  // It comes from an MCP server, and nobody approved what it executes.
  const isUnapproved = skill.remote !== undefined && !trustAllows(trust.level, "execute-from-server");
  return createGrowingPolicy(
    {
      ...sharedOptions(given, memory, place),
      lists: [skillLists(prepared, brought), ...(agent ? [agentLists(agent)] : []), ...onlyLists(given)],
      unapproved: () => (isUnapproved ? skill.name : memory.trust.unapproved),
      isBare: !given.host.config().skills.namespaceTools,
      outer: given.parent?.policy,
    },
    given.host.sessionRules,
  );
}

/** For one turn: skills and commands pre-approve and deny; they never restrict the user's own tools. */
export function createChatPolicy(
  lists: readonly ToolLists[],
  given: RunGiven,
  memory: ConversationMemory,
  place: RunPlace,
): GrowingPolicy {
  const shared = sharedOptions(given, memory, place);
  const all = [...lists, ...onlyLists(given)];
  const options = { ...shared, lists: all, unapproved: () => memory.trust.unapproved };
  return createGrowingPolicy(options, given.host.sessionRules);
}

/** What it denies is also denied to skills run from a chat; what it would ask about is left to their own policy. */
export function denyOnly(policy: ToolPolicy): ToolPolicy {
  return {
    diagnostics: [],
    visible: (tools) => policy.visible(tools),
    async decide(tool, effect, input) {
      const decision = await policy.decide(tool, effect, input);
      return decision.answer === "deny" ? decision : { answer: "allow", rule: decision.rule };
    },
  };
}

function sharedOptions(
  { host, request }: RunGiven,
  memory: ConversationMemory,
  { world: { cwd } }: RunPlace,
): Omit<ToolPolicyOptions, "lists"> {
  const { tools, policyTools } = host.config();
  return {
    config: tools,
    policy: policyTools,
    cwd,
    isPreApprovalStopped: () => memory.trust.taintedBy !== undefined,
    hostTools: programTools(host, request).map(({ name }) => name),
  };
}

function createGrowingPolicy(options: ToolPolicyOptions, session?: ReadonlySet<string>): GrowingPolicy {
  let { lists } = options;
  let allowed = [...(session ?? [])];
  const optionsWith = (patterns: readonly string[]): ToolPolicyOptions => {
    const rules = Object.fromEntries(patterns.map((pattern) => [pattern, "allow" as const]));
    return { ...options, lists, config: { ...options.config, ...rules } };
  };
  let current = createToolPolicy(optionsWith(allowed));
  const renew = (): void => {
    allowed = [...(session ?? [])];
    current = createToolPolicy(optionsWith(allowed));
  };
  return {
    get diagnostics() {
      return current.diagnostics;
    },
    visible: (tools) => current.visible(tools),
    decide(tool, effect, input) {
      if (allowed.length !== (session?.size ?? 0)) renew();
      return current.decide(tool, effect, input);
    },
    allowing: (patterns) => createToolPolicy(optionsWith([...allowed, ...patterns])),
    activate(more) {
      lists = [...lists, more];
      renew();
    },
  };
}

export function skillLists(
  { skill, trust, execution }: PreparedInvocation,
  ownTools?: readonly string[],
): ToolLists {
  const { allowedTools, disallowedTools, requiredTools, toolsets } = skill.manifest;
  const tools = toolsets.length === 0 ? [] : ownTools;
  return {
    owner: `skill \`${skill.name}\``,
    path: skill.location,
    trust: trust.level,
    isIsolated: execution === "isolated",
    allowedTools,
    requiredTools,
    disallowedTools,
    own: { skill: skill.name, tools },
  };
}

/** For a skill followed inside a run: its lists deny, and never allow more than the run has. */
export function followedLists(prepared: PreparedInvocation): ToolLists {
  return { ...skillLists(prepared), allowedTools: [] };
}

/** Restrictions by whoever serves the user: they remove tools, and never pre-approve. */
function onlyLists({ host: { onlyTools } }: Pick<RunGiven, "host">): readonly ToolLists[] {
  if (onlyTools === undefined) return [];
  return [
    {
      owner: "this user's runs",
      path: "",
      trust: "trusted",
      isIsolated: true,
      requiredTools: onlyTools,
      disallowedTools: [],
      onlyAs: "onlyTools",
    },
  ];
}

/** They apply in addition to the skill's. */
function agentLists({ name, location, trust, tools, disallowedTools }: NamedAgent): ToolLists {
  return {
    owner: `agent \`${name}\``,
    path: location,
    trust: trust.level,
    isIsolated: true,
    allowedTools: tools,
    requiredTools: [],
    disallowedTools,
  };
}

/** A tool call that the policy neither allows nor denies, shown to a person before it is made. */
export interface ApprovalQuestion {
  /** The skill whose run makes the call; `chat` in a conversation. */
  readonly skill: string;
  /** The tool's name in the tool policy. */
  readonly tool: string;
  /** The call's input, as the model wrote it. */
  readonly input: ToolInput;
  /** Why it is asked. */
  readonly rule: string;
  /** What the call would change, as a diff. */
  readonly diff?: string | undefined;
  /** Tool patterns that would allow this call and similar ones; empty if no pattern can. */
  readonly rules?: readonly string[] | undefined;
}

/**
 * `always`: also for the same tool with the same input, for the rest of the run or conversation. `session`: also for
 * everything the question's `rules` cover.
 */
export type ApprovalAnswer = "yes" | "no" | "always" | "session";
/** Asks a person about one tool call; an exception, or anything but a listed answer, counts as no. */
export type AskApproval = (question: ApprovalQuestion) => ApprovalAnswer | Promise<ApprovalAnswer>;

export interface Approvals {
  /** Once the signal is aborted, nobody is asked. */
  ask(question: Omit<ApprovalQuestion, "skill">, signal: AbortSignal): Promise<Approval>;
}

interface Approval {
  readonly approved: boolean;
  readonly rule: string;
}

interface ApprovalSettings {
  readonly skill: string;
  /** `all`: yes to every question. Absent: nobody can be asked. */
  readonly approve?: "all" | AskApproval | undefined;
  /** What was answered with `always`; shared by a chat's turns. */
  readonly remembered?: Set<string> | undefined;
  /** What was answered with `session`: patterns that count from then on. */
  readonly sessionRules?: Set<string> | undefined;
  /** Of the run that started this one: the same person is asked. */
  readonly queue?: QuestionQueue | undefined;
}

export function createApprovals(settings: ApprovalSettings): Approvals {
  const { skill, approve, remembered = new Set(), sessionRules, queue = createQuestionQueue() } = settings;
  const remember = (reach: Reach | undefined, key: string, rules: readonly string[] = []): void => {
    if (reach === "same" || reach === "rules") remembered.add(key);
    if (reach === "rules") for (const pattern of rules) sessionRules?.add(pattern);
  };
  const askPerson = async (
    question: Omit<ApprovalQuestion, "skill">,
    signal: AbortSignal,
  ): Promise<Approval> => {
    if (signal.aborted) return STOPPED;
    if (approve === "all") return { approved: true, rule: "approved in advance" };
    if (approve === undefined) {
      return { approved: false, rule: `${question.rule}, and there is nobody to ask` };
    }
    const key = JSON.stringify([question.tool, question.input]);
    if (remembered.has(key)) return { approved: true, rule: "approved earlier in this run" };
    try {
      const answer: unknown = await approve({ ...question, skill });
      const reach = REACH_OF.get(answer as ApprovalAnswer);
      remember(reach, key, question.rules);
      if (reach !== undefined) return { approved: true, rule: "approved by the user" };
      return { approved: false, rule: answer === "no" ? "the user declined" : describeNoAnswer(answer) };
    } catch (error) {
      if (error instanceof CancelledError) return { approved: false, rule: "skipped" };
      // The window was closed, or the embedding program failed: nobody agreed.
      const reason = sayFault(error);
      return { approved: false, rule: `the user could not be asked: ${reason}` };
    }
  };
  return {
    async ask(question, signal) {
      return (await queue(() => askPerson(question, signal), signal)) ?? STOPPED;
    },
  };
}

function describeNoAnswer(answer: unknown): string {
  const shown = typeof answer === "string" ? showValue(answer) : kindOf(answer);
  return `\`approve\` returned ${shown}; it must be \`yes\`, \`no\`, \`always\` or \`session\``;
}

/** How far a yes reaches. */
type Reach = "call" | "same" | "rules";

/** Only these words agree: a JavaScript program may return anything. */
const REACH_OF: ReadonlyMap<ApprovalAnswer, Reach> = new Map([
  ["yes", "call"],
  ["always", "same"],
  ["session", "rules"],
] as const);

const STOPPED: Approval = { approved: false, rule: "the run was stopped before anyone answered" };

/** Asks one question after another; `undefined` if its run was stopped in the meantime. */
export type QuestionQueue = <Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
) => Promise<Answer | undefined>;

export function createQuestionQueue(): QuestionQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (ask, signal) => {
    const asked = untilStopped(last.then(ask), signal);
    last = asked.catch(() => undefined); // Whoever asked gets the error; the next question is asked anyway.
    return asked;
  };
}

/** A model's questions wait in the same queue: a person is asked one thing at a time. */
export function queueQuestions<Asking extends { readonly askUser?: AskUser | undefined }>(
  asking: Asking,
  queue: QuestionQueue,
): Asking {
  const { askUser } = asking;
  if (askUser === undefined) return asking;
  return {
    ...asking,
    askUser: (question, signal) =>
      queue(async () => (signal.aborted ? undefined : askUser(question, signal)), signal),
  };
}

/** So do confirmations of changes; without an answer, nothing is changed. */
export function queueConfirmation(confirm: ConfirmMutation, queue: QuestionQueue): ConfirmMutation {
  return async (plan, signal = new AbortController().signal) =>
    (await queue(async () => (signal.aborted ? "no" : confirm(plan, signal)), signal)) ?? "no";
}

/**
 * Waits until the run ends: for a person who may never answer, or a tool that ignores its signal. `undefined` once the
 * signal is aborted and the grace period is over; the work itself continues unobserved.
 */
export async function untilStopped<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  graceMs = 0,
): Promise<Value | undefined> {
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => resolve(undefined), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  }
}
