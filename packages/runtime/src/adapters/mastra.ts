/**
 * `metier/mastra`: skills for Mastra 1 agents: tools, and an input processor that tells the model about the skills,
 * restores what memory dropped, and checks the agent's own tools. It imports nothing from Mastra; these are the shapes
 * it takes, and your copy is the only one.
 */
import type { SkillOffer, SkillOfferOptions, ToolOutput } from "@metier/run";
import type { OffersSkills } from "../runtime/running.ts";
import { type AdaptedSkills, adapted } from "./adapter.ts";
import { type AiSdkTool, toAiSdkTools } from "./ai-sdk.ts";
import { guardTool } from "./guard-tools.ts";
import { messageTexts } from "./plain.ts";

/** An AI SDK tool as Mastra takes it: Mastra passes the result itself to `toModelOutput`. */
export interface MastraTool extends Omit<AiSdkTool, "toModelOutput"> {
  /** The text only, marked as an error if it reports one. */
  toModelOutput(output: ToolOutput): ReturnType<AiSdkTool["toModelOutput"]>;
}

/** The part of the `processInputStep` argument that is used here. */
export interface MastraStep<SystemMessage> {
  /** The conversation so far, without system messages. */
  readonly messages: readonly unknown[];
  /** The system messages this step would send. */
  readonly systemMessages: readonly SystemMessage[];
  /** The agent's tools by name; absent if it has none. */
  readonly tools?: Readonly<Record<string, unknown>> | undefined;
  /** The tools this step is limited to; absent if there is no limit. */
  readonly activeTools?: readonly string[] | undefined;
}

/** What `processInputStep` changes for one step. */
export interface MastraStepSettings<SystemMessage> {
  /** The tools that the followed skills allow, with their calls checked; absent if the step has none. */
  tools?: Record<string, unknown>;
  /** The remaining `activeTools` of the step; absent if the step has none. */
  activeTools?: string[];
  /** The step's own, then what the model hasn't been told or has lost. */
  systemMessages: (SystemMessage | { role: "system"; content: string })[];
}

/** For `new Agent({ inputProcessors: [skills.processor] })`. */
export interface MastraProcessor {
  /** The id Mastra knows the processor by. */
  readonly id: "metier-skills";
  /** The name Mastra shows. */
  readonly name: string;
  /** A turn starts. */
  processInput<Message>(given: { readonly messages: Message[] }): Message[];
  /** Tells the model about the skills, restores what was dropped, and removes and checks tools. */
  processInputStep<SystemMessage>(step: MastraStep<SystemMessage>): MastraStepSettings<SystemMessage>;
}

/** Returned by `mastraSkills`: tools and an input processor for one conversation. */
export interface MastraSkills extends AdaptedSkills {
  /** What the processor tells the model, for an agent that doesn't use it. `""` without skills. */
  readonly instructions: string;
  /** Spread into an agent's `tools`, next to your own. */
  readonly tools: Record<string, MastraTool>;
  /** For an agent's `inputProcessors`; tells the model about the skills and checks the agent's own tools. */
  readonly processor: MastraProcessor;
}

/**
 * Offers skills to an agent of Mastra 1; make one for each conversation.
 *
 * @example
 * ```ts
 * const skills = await mastraSkills(metier);
 * const agent = new Agent({
 *   id: "editor", name: "Editor", instructions: "You edit texts.", model: "openai/gpt-4.1",
 *   tools: { ...skills.tools, ownTool }, inputProcessors: [skills.processor],
 * });
 * ```
 */
export async function mastraSkills(metier: OffersSkills, options?: SkillOfferOptions): Promise<MastraSkills> {
  const offer = await metier.offerSkills(options);
  return {
    ...adapted(offer),
    instructions: offer.instructions,
    tools: toMastraTools(offer),
    processor: {
      id: "metier-skills",
      name: "Skills",
      processInput: ({ messages }) => {
        offer.startTurn();
        return messages;
      },
      processInputStep: (step) => prepareStep(offer, step),
    },
  };
}

function toMastraTools(offer: SkillOffer): Record<string, MastraTool> {
  const tools = Object.entries(toAiSdkTools(offer)).map(([name, tool]): [string, MastraTool] => [
    name,
    { ...tool, toModelOutput: (output) => tool.toModelOutput({ output }) },
  ]);
  return Object.fromEntries(tools);
}

function prepareStep<SystemMessage>(
  offer: SkillOffer,
  { messages, systemMessages, tools, activeTools }: MastraStep<SystemMessage>,
): MastraStepSettings<SystemMessage> {
  const guard = offer.guard();
  const told = messageTexts(systemMessages);
  const missing = told.some((text) => text.includes(offer.instructions)) ? "" : offer.instructions;
  const lost = offer.lost([...told, missing, ...messageTexts(messages)]);
  const more = [missing, lost].filter((text) => text !== "");
  const left = new Set(offer.narrow(Object.keys(tools ?? {})));
  return {
    systemMessages: [...systemMessages, ...more.map((content) => ({ role: "system", content }) as const)],
    ...(tools && { tools: holdTools(tools, left, (name, tool) => guardTool(name, tool, guard)) }),
    ...(activeTools && { activeTools: activeTools.filter((name) => left.has(name)) }),
  };
}

function holdTools(
  tools: Readonly<Record<string, unknown>>,
  left: ReadonlySet<string>,
  hold: (name: string, tool: object) => object,
): Record<string, unknown> {
  const kept = Object.entries(tools).filter(([name]) => left.has(name));
  return Object.fromEntries(kept.map(([name, tool]) => [name, hold(name, tool as object)]));
}
