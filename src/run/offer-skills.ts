/**
 * Skills for a program with a loop of its own, one offer for each conversation: what its model is told, the tools it
 * gets, and one way to call them. Adapters give this the shape that a host wants, and decide nothing.
 */
import { type Conversation, createConversation } from "../disclose/conversation.ts";
import type { TokenCounter } from "../disclose/count-tokens.ts";
import type { ListingReport } from "../disclose/plan-listing.ts";
import { findProtected } from "../disclose/protect.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { refusalError } from "../invoke/refusal-error.ts";
import type { Trust } from "../skill/skill.ts";
import { skillTools } from "../tools/skills/skill-tools.ts";
import { fault, type ToolInput, type ToolOutput } from "../tools/tool.ts";
import { createToolPolicy } from "../tools/tool-policy.ts";
import { showNames, showValue } from "../validate/report.ts";
import type { ConversationCall, ConversationTool, ConversationToolOptions } from "./conversation-tool.ts";
import { checkCalls, type OpenedConversation, openConversation } from "./open-conversation.ts";
import type { RunHost } from "./run-host.ts";
import { followedLists } from "./run-policy.ts";
import { noteReading } from "./run-tools.ts";

export interface SkillOfferOptions extends ConversationToolOptions {
  /** Skills whose instructions are given from the beginning, as a part of `instructions`. */
  readonly preload?: readonly string[];
  /** The most tokens the listing may have. Default: 10,000. */
  readonly listingTokens?: number;
  /** Default: an estimate that is never too low; `loadTokenCounter` tells more skills in the same number. */
  readonly countTokens?: TokenCounter;
}

export interface SkillOffer {
  /** For the system prompt: which skills there are, how to use one, and those that are preloaded. `""` without any. */
  readonly instructions: string;
  /** `use_skill`, `list_skills`, `read_skill_file`, and `find_skills` when the listing cannot tell of all; or none. */
  readonly tools: readonly ConversationTool[];
  /** What the conversation was given. */
  readonly conversation: Conversation;
  /** What became of each skill in the listing. */
  readonly report: ListingReport;
  /** Calls one of the tools; the input is checked. Whatever goes wrong is an answer that says so. */
  call(tool: string, input: unknown, call?: ConversationCall): Promise<ToolOutput>;
  /**
   * The instructions that were given to the conversation and are in none of these texts any more, for instance since
   * the host has compacted it; `""` when all are there. One whose text is not known here can be asked for again.
   */
  lost(texts: readonly string[]): string;
  /** Of the host's tools, those that no preloaded skill and none of these disallows while it is followed. */
  narrow<Name extends string>(tools: readonly Name[], skills: readonly string[]): readonly Name[];
}

/** A skill in the conversation, as it was asked for last. */
interface ActiveSkill {
  readonly prepared: PreparedInvocation;
  /** As it was given; absent when that was before this offer. */
  readonly text?: string | undefined;
}

/** Throws for a skill in `preload` that cannot be used: `SkillNotFoundError`, `SkillInvocationError`. */
export async function offerSkills(
  given: RunHost,
  options: SkillOfferOptions,
  trustOf: (skill: string) => Trust | undefined,
): Promise<SkillOffer> {
  const { preload = [], listingTokens, countTokens, ...rest } = options;
  const active = new Map<string, ActiveSkill>();
  const remember = (prepared: PreparedInvocation, text: string): void => {
    const before = active.get(prepared.skill.name);
    const known = before?.prepared.digest === prepared.digest ? before.text : undefined;
    // The short answer to a repeated call is not the text.
    active.set(prepared.skill.name, { prepared, text: isGivenIn(text, prepared) ? text : known });
  };
  const opened = openConversation(given, rest, trustOf, remember);
  const { host, parent, conversation } = opened;
  const preloaded = await preloadSkills(preload, opened, rest, remember);
  const { instructions, tools, report } = skillTools(
    noteReading(host.library, parent.memory.trust),
    { ...(listingTokens !== undefined && { budget: listingTokens }), ...(countTokens && { countTokens }) },
    opened.useSkill,
  );
  const offered = tools.map((tool) => (tool.name === "use_skill" ? tool : checkCalls(tool)));
  return {
    instructions: [instructions, ...preloaded].filter((text) => text !== "").join("\n\n"),
    tools: offered,
    conversation,
    report,
    async call(name, input, call) {
      const tool = offered.find((known) => known.name === name);
      return tool ? tool.execute(input as ToolInput, call) : fault(describeMiss(name, offered));
    },
    lost: (texts) => giveAgain(conversation, active, texts),
    narrow: (names, skills) => narrowTools(names, [...preload, ...skills], active, host.cwd),
  };
}

/** Text alone: a skill that needs a run cannot be given beforehand. */
async function preloadSkills(
  names: readonly string[],
  { host, parent, conversation }: OpenedConversation,
  { caller }: Pick<ConversationToolOptions, "caller">,
  remember: (prepared: PreparedInvocation, text: string) => void,
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const { filesOf, prepareRequest } = await import("./invoke-skill.ts");
  const { activateInline } = await import("../invoke/inline.ts");
  // The system prompt is new even where the conversation goes on: what it was given before does not count.
  const memory = { ...parent.memory, conversation: createConversation() };
  const texts: string[] = [];
  for (const skill of new Set(names)) {
    const request = { skill, source: "code", ...(caller && { caller }) } as const;
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

function narrowTools<Name extends string>(
  names: readonly Name[],
  skills: readonly string[],
  active: ReadonlyMap<string, ActiveSkill>,
  cwd: string,
): readonly Name[] {
  const lists = skills.flatMap((name) => {
    const known = active.get(name);
    return known ? [followedLists(known.prepared)] : [];
  });
  const policy = createToolPolicy({ lists, config: {}, policy: {}, cwd, hostTools: names });
  return policy.visible(names.map((name) => ({ name }))).map(({ name }) => name);
}

function describeMiss(name: string, tools: readonly ConversationTool[]): string {
  const names = tools.map((tool) => tool.name);
  const known =
    names.length === 0 ? "There is none: no skill can be used." : `There are ${showNames(names)}.`;
  return `There is no tool ${showValue(String(name))}. ${known}`;
}
