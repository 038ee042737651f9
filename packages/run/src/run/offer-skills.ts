/**
 * Skills for a program with its own loop, one offer per conversation: what its model is told, its tools, and one
 * function to call them. Adapters convert this to a host's shapes, and decide nothing.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { openLog } from "@metier/base/diagnostic";
import { showNames, showValue } from "@metier/base/text";
import {
  type Conversation,
  createConversation,
  findProtected,
  type ListingReport,
  type TokenCounter,
  type Trust,
} from "@metier/skills";
import { activateInline } from "../invoke/conversation-trust.ts";
import { type PreparedInvocation, refusalError } from "../invoke/invocation.ts";
import { skillTools } from "../tools/skill-tools.ts";
import { fault, type ToolInput, type ToolOutput } from "../tools/tool.ts";
import { checkCallOptions } from "./call-options.ts";
import { createToolHold, type ToolGuard, type ToolHold } from "./hold-tools.ts";
import { filesOf } from "./invoke-skill.ts";
import type { RunHost } from "./run-request.ts";
import { noteReading, prepareRequest } from "./run-tools.ts";
import {
  type ConversationCall,
  type ConversationTool,
  type ConversationToolOptions,
  checkCalls,
  type OpenedConversation,
  openConversation,
} from "./use-skill.ts";

/** Options of `offerSkills`: what skills may do in the conversation, and how they are listed. */
export interface SkillOfferOptions extends ConversationToolOptions {
  /** Skills whose instructions are part of `instructions` from the start. */
  readonly preload?: readonly string[];
  /** The most tokens for the listing. Default: 10,000. */
  readonly listingTokens?: number;
  /** Default: an estimate that is never too low; `loadTokenCounter` fits more skills into the same number. */
  readonly countTokens?: TokenCounter;
}

/**
 * Skills for one conversation of a program with its own agent loop: text for the system prompt, and tools.
 *
 * @example
 * ```ts
 * const offer = await metier.offerSkills({ caller: { userId: "ada" } });
 * const system = `You help our customers.\n\n${offer.instructions}`;
 * const output = await offer.call("use_skill", { skill: "summarize-text" }); // what the model called
 * ```
 */
export interface SkillOffer {
  /** For the system prompt: which skills there are, how to use one, and the preloaded ones. `""` without any. */
  readonly instructions: string;
  /** `use_skill`, `list_skills`, `read_skill_file`, and `find_skills` if the listing can't show all; or none. */
  readonly tools: readonly ConversationTool[];
  /** What the conversation was given. */
  readonly conversation: Conversation;
  /** How each skill is listed. */
  readonly report: ListingReport;
  /** Calls one of the tools; the input is checked. Every error is returned as an answer. */
  call(tool: string, input: unknown, call?: ConversationCall): Promise<ToolOutput>;
  /**
   * The instructions that the conversation was given and that are no longer in these texts, for example because the
   * host compacted it; `""` if none are missing. If a text isn't known here, it can be requested again.
   */
  lost(texts: readonly string[]): string;
  /**
   * The user sent a message: skills followed until now no longer restrict the host's tools. Without this call, all of
   * them do.
   */
  startTurn(): void;
  /**
   * The host's tools that no skill followed in this turn or preloaded disallows; or, with `skills`, none of these. A
   * tool with only some calls disallowed stays if a `guard` checks its calls.
   */
  narrow<Name extends string>(tools: readonly Name[], skills?: readonly string[]): readonly Name[];
  /**
   * Takes over checking every call of these tools, or of all: call `whyNot` before each one. `beyond`: tools that the
   * host can't check at all, so that a skill that disallows one is reported.
   */
  guard(tools?: readonly string[], beyond?: readonly string[]): ToolGuard;
  /** What a skill disallows but the host doesn't enforce, or enforces more strictly. Grows; also in the log. */
  readonly reports: readonly Diagnostic[];
}

/** A skill in the conversation, as last requested. */
interface ActiveSkill {
  readonly prepared: PreparedInvocation;
  /** As given; absent if that was before this offer. */
  readonly text?: string | undefined;
}

/** Throws for a skill in `preload` that can't be used: `SkillNotFoundError`, `SkillInvocationError`. */
export async function offerSkills(
  given: RunHost,
  options: SkillOfferOptions,
  trustOf: (skill: string) => Trust | undefined,
): Promise<SkillOffer> {
  checkCallOptions("offerSkills", options);
  const { preload = [], listingTokens, countTokens, ...rest } = options;
  const active = new Map<string, ActiveSkill>();
  const remember = (prepared: PreparedInvocation, text: string): void => {
    const before = active.get(prepared.skill.name);
    const known = before?.prepared.digest === prepared.digest ? before.text : undefined;
    // The short answer to a repeated call isn't the text.
    active.set(prepared.skill.name, { prepared, text: isGivenIn(text, prepared) ? text : known });
  };
  const onInline = (prepared: PreparedInvocation, text: string): void => {
    remember(prepared, text);
    hold.follow(prepared);
  };
  const opened = openConversation(given, rest, trustOf, onInline);
  const { host, parent, conversation } = opened;
  const hold: ToolHold = createToolHold({
    cwd: host.cwd ?? host.base,
    log: openLog(host.logger),
    unapproved: () => parent.memory.trust.unapproved,
  });
  const preloaded = await preloadSkills(preload, opened, rest, (prepared, text) => {
    remember(prepared, text);
    hold.preload(prepared);
  });
  const { instructions, tools, report } = skillTools(
    noteReading(host.library, parent.memory.trust),
    { budget: listingTokens, countTokens },
    opened.useSkill,
  );
  const own = hold.own(tools.map(({ name }) => name));
  const offered = tools
    .map((tool) => (tool.name === "use_skill" ? tool : checkCalls(tool)))
    .map((tool) => holdTool(tool, own));
  return {
    instructions: [instructions, ...preloaded].filter((text) => text !== "").join("\n\n"),
    tools: offered,
    conversation,
    report,
    async call(name, input, call) {
      checkCallOptions("offer.call", call);
      const tool = offered.find((known) => known.name === name);
      return tool ? tool.execute(input as ToolInput, call) : fault(describeMiss(name, offered));
    },
    lost: (texts) => giveAgain(conversation, active, texts),
    startTurn: () => hold.startTurn(),
    narrow: (names, skills) => hold.narrow(names, skills),
    guard: (names, beyond) => hold.guard(names, beyond),
    reports: hold.reports,
  };
}

/** What a followed skill disallows also applies to our own tools. */
function holdTool(tool: ConversationTool, guard: ToolGuard): ConversationTool {
  return {
    ...tool,
    async execute(input, call) {
      const why = await guard.whyNot(tool.name, input);
      return why === undefined ? tool.execute(input, call) : fault(why);
    },
  };
}

/** Only text: a skill that needs a run can't be preloaded. */
async function preloadSkills(
  names: readonly string[],
  { host, parent, conversation }: OpenedConversation,
  { caller }: Pick<ConversationToolOptions, "caller">,
  remember: (prepared: PreparedInvocation, text: string) => void,
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  // The system prompt is new even if the conversation continues: what it was given before doesn't count.
  const memory = { ...parent.memory, conversation: createConversation() };
  const texts: string[] = [];
  for (const skill of new Set(names)) {
    const request = { skill, source: "code", caller } as const;
    const outcome = await prepareRequest(request, host, { asked: "text", canRun: false, parent });
    if (!outcome.ok) throw refusalError(outcome.refusal, "code");
    const { prepared } = outcome;
    const { text } = activateInline(prepared, memory, filesOf(prepared, host));
    conversation.forget(prepared.skill.name);
    conversation.activate({ name: prepared.skill.name, digest: prepared.digest }, text);
    remember(prepared, text);
    texts.push(text);
  }
  return texts;
}

function isGivenIn(text: string, { skill: { name }, digest }: PreparedInvocation): boolean {
  return findProtected([text], [{ name, digest }], (given) => given).length > 0;
}

function giveAgain(
  conversation: Conversation,
  active: ReadonlyMap<string, ActiveSkill>,
  texts: readonly string[],
): string {
  const last = new Map(conversation.activations.map((activation) => [activation.name, activation]));
  const lost: string[] = [];
  for (const activation of last.values()) {
    if (findProtected(texts, [activation], (text) => text).length > 0) continue;
    const known = active.get(activation.name);
    if (known?.text !== undefined && known.prepared.digest === activation.digest) lost.push(known.text);
    else conversation.forget(activation.name);
  }
  return lost.join("\n\n");
}

function describeMiss(name: string, tools: readonly ConversationTool[]): string {
  const names = tools.map((tool) => tool.name);
  const known =
    names.length === 0 ? "There are none, because no skill can be used." : `There are ${showNames(names)}.`;
  return `There is no tool ${showValue(String(name))}. ${known}`;
}
