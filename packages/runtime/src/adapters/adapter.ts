/**
 * What all adapters have in common: whom they get an offer from, what everyone of them tells, and how tools are named in
 * the shapes of their hosts.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { SkillOffer } from "@metier/run";
import type { Conversation } from "@metier/skills";

/** What every adapter gives beside the shapes of its host. */
export interface AdaptedSkills {
  /** What the conversation was given; keep it to go on later. */
  readonly conversation: Conversation;
  /**
   * What a skill disallows and this host does not hold, or holds more strictly than the skill says. It grows while skills
   * are used; the logger of `createMetier` hears of each once.
   */
  readonly reports: readonly Diagnostic[];
  /**
   * Call it when the user has spoken: what skills of the turn before disallowed counts no longer. Hosts that say when a
   * turn begins do it by themselves; an offer that is never told keeps to all of them.
   */
  startTurn(): void;
}

export function adapted({ conversation, reports, startTurn }: SkillOffer): AdaptedSkills {
  return { conversation, reports, startTurn };
}

/** In any shape: `name`, OpenAI's `function.name`, or the `type` of a tool that a provider carries out. */
export function toolName(tool: unknown): string {
  const { name, function: called, type } = (tool ?? {}) as Readonly<Record<string, unknown>>;
  const inner = (called as { readonly name?: unknown } | undefined)?.name;
  return [name, inner, type].find((text) => typeof text === "string") ?? "";
}

/** Those of the tools that are left for the turn. */
export function narrowTools<Tool>(offer: SkillOffer, tools: readonly Tool[]): Tool[] {
  const left = new Set(offer.narrow(tools.map(toolName)));
  return tools.filter((tool) => left.has(toolName(tool)));
}
