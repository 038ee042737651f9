/** What all adapters share: where the offer comes from, what each one reports, and how its host names tools. */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { SkillOffer } from "@metier/run";
import type { Conversation } from "@metier/skills";

/** What every adapter returns besides its host's own shapes. */
export interface AdaptedSkills {
  /** What the conversation was given; keep it to continue later. */
  readonly conversation: Conversation;
  /**
   * What a skill disallows but this host doesn't enforce, or enforces more strictly than the skill says. It grows as
   * skills are used; the logger of `createMetier` gets each entry once.
   */
  readonly reports: readonly Diagnostic[];
  /**
   * Call it when the user sends a message: what skills disallowed in the previous turn no longer applies. Hosts that
   * report the start of a turn do this themselves; without the call, all of it stays in force.
   */
  startTurn(): void;
}

export function adapted({ conversation, reports, startTurn }: SkillOffer): AdaptedSkills {
  return { conversation, reports, startTurn };
}

/** In any shape: `name`, OpenAI's `function.name`, or the `type` of a tool that the provider runs. */
export function toolName(tool: unknown): string {
  const { name, function: called, type } = (tool ?? {}) as Readonly<Record<string, unknown>>;
  const inner = (called as { readonly name?: unknown } | undefined)?.name;
  return [name, inner, type].find((text) => typeof text === "string") ?? "";
}

/** The tools that remain for this turn. */
export function narrowTools<Tool>(offer: SkillOffer, tools: readonly Tool[]): Tool[] {
  const left = new Set(offer.narrow(tools.map(toolName)));
  return tools.filter((tool) => left.has(toolName(tool)));
}
