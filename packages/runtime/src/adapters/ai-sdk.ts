/**
 * `metier/ai-sdk`: skills for `generateText`, `streamText` and `ToolLoopAgent` of the AI SDK, 6 and 7. Nothing of it is
 * imported, so that your own `ai` is the only one: schemas are Standard Schemas, and everything else is plain data.
 */
import { presentFields } from "@metier/base/json";
import type {
  ConversationCall,
  ConversationTool,
  SkillOffer,
  SkillOfferOptions,
  ToolInput,
  ToolOutput,
} from "@metier/run";
import type { OffersSkills } from "../runtime/running.ts";
import { type AdaptedSkills, adapted } from "./adapter.ts";
import { guardTools } from "./guard-tools.ts";
import { lastUserText, messageTexts } from "./plain.ts";

/** Takes everything: the tool checks its input itself, and answers what is wrong so that the model can try again. */
export interface AiSdkSchema {
  /** The Standard Schema interface, with a JSON Schema for the model; `validate` passes every value on. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "metier";
    validate(value: unknown): { readonly value: ToolInput };
    readonly jsonSchema: {
      input(): Record<string, unknown>;
      output(): Record<string, unknown>;
    };
  };
}

/** A tool in the shape that `tools` of the AI SDK takes. */
export interface AiSdkTool {
  /** What the model reads about the tool. */
  readonly description: string;
  /** The tool's input, as a Standard Schema. */
  readonly inputSchema: AiSdkSchema;
  /** Answers a call; aborting `abortSignal` ends it. A run of a skill is told the last user message. */
  execute(
    input: ToolInput,
    options: { readonly abortSignal?: AbortSignal | undefined; readonly messages: readonly unknown[] },
  ): Promise<ToolOutput>;
  /** The text alone, marked where it says what went wrong. */
  toModelOutput(result: { readonly output: ToolOutput }): {
    readonly type: "text" | "error-text";
    readonly value: string;
  };
}

/** What `prepareStep` is told. AI SDK 6 says nothing of `instructions`. */
export interface AiSdkStep<Message = unknown> {
  /** The messages that this step would send. */
  readonly messages: readonly Message[];
  /** The instructions that this step would send; absent in AI SDK 6. */
  readonly instructions?: AiSdkInstructions | undefined;
  /** The steps so far. None, and no tool's message last: a turn begins. */
  readonly steps: readonly unknown[];
}

/** A system message of the AI SDK. */
interface AiSdkSystemMessage {
  /** Always `system`. */
  role: "system";
  /** Text for the model. */
  content: string;
}

/** What the AI SDK takes as `instructions`: a text, or one or more system messages. */
export type AiSdkInstructions = string | AiSdkSystemMessage | AiSdkSystemMessage[];

/** What a `prepareStep` changes for one step; a field is absent when it changes nothing there. */
export interface AiSdkStepSettings<Name extends string, Message = unknown> {
  /** The step's instructions with lost skill instructions added; AI SDK 7 only. */
  instructions?: AiSdkInstructions;
  /** The tools that the followed skills leave; absent when they leave all. */
  activeTools?: Name[];
  /** For AI SDK 6, whose steps cannot add to the instructions: a system message before the others. */
  messages?: (Message | AiSdkSystemMessage)[];
}

/** What `aiSdkSkills` makes: instructions, tools and a `prepareStep` for one conversation. */
export interface AiSdkSkills extends AdaptedSkills {
  /** For `instructions`; put your own before it. `""` without skills. */
  readonly instructions: string;
  /** To spread into `tools`, beside your own. */
  readonly tools: Record<string, AiSdkTool>;
  /**
   * Makes a `prepareStep`. It gives instructions of skills again that you have cut out of the messages, and while the
   * model follows a skill it takes away the tools that the skill disallows. `tools`: all that are active, yours too.
   */
  prepareStep<Name extends string>(
    tools: Readonly<Record<Name, unknown>>,
  ): <Message>(step: AiSdkStep<Message>) => AiSdkStepSettings<Name, Message>;
  /**
   * Your own tools, each looking at its calls before it makes them: one that a followed skill disallows answers with an
   * error that says why. Without it a tool goes altogether where a skill disallows some of its calls (`Bash(rm:*)`).
   */
  guard<Tools extends Readonly<Record<string, object>>>(tools: Tools): Tools;
}

/**
 * Offers skills to `generateText`, `streamText` and `ToolLoopAgent` of the AI SDK; make one for each conversation.
 *
 * @example
 * ```ts
 * const skills = await aiSdkSkills(metier);
 * const { text } = await generateText({
 *   model, prompt, instructions: skills.instructions, tools: skills.tools,
 *   prepareStep: skills.prepareStep(skills.tools), stopWhen: isStepCount(10),
 * });
 * ```
 */
export async function aiSdkSkills(metier: OffersSkills, options?: SkillOfferOptions): Promise<AiSdkSkills> {
  const offer = await metier.offerSkills(options);
  return {
    ...adapted(offer),
    instructions: offer.instructions,
    tools: toAiSdkTools(offer),
    guard: (tools) => guardTools(offer, tools),
    prepareStep: (tools) => {
      const names = Object.keys(tools) as (keyof typeof tools)[];
      return (step) => prepareStep(offer, names, step);
    },
  };
}

/** Mastra takes the same. */
export function toAiSdkTools({ tools }: SkillOffer): Record<string, AiSdkTool> {
  return Object.fromEntries(tools.map((tool) => [tool.name, toAiSdkTool(tool)]));
}

function toAiSdkTool(tool: ConversationTool): AiSdkTool {
  const { description, inputSchema } = tool;
  const jsonSchema = (): Record<string, unknown> => keepOpen(inputSchema);
  return {
    description,
    inputSchema: {
      "~standard": {
        version: 1,
        vendor: "metier",
        validate: (value) => ({ value: value as ToolInput }),
        jsonSchema: { input: jsonSchema, output: jsonSchema },
      },
    },
    execute: (input, options) => tool.execute(input, toCall(options)),
    toModelOutput: ({ output: { text, isError } }) => ({
      type: isError ? "error-text" : "text",
      value: text,
    }),
  };
}

/**
 * The AI SDK closes every object of a schema that does not say by a schema what else may be in it. The input of a skill
 * is such an object: only the skill knows what belongs there.
 */
function keepOpen(schema: ConversationTool["inputSchema"]): Record<string, unknown> {
  const { properties, ...rest } = structuredClone(schema);
  const opened = Object.entries(properties as Record<string, Record<string, unknown>>).map(
    ([name, property]) => [
      name,
      property.type === "object" ? { ...property, additionalProperties: {} } : property,
    ],
  );
  return { ...rest, properties: Object.fromEntries(opened) };
}

function toCall({ abortSignal, messages }: Parameters<AiSdkTool["execute"]>[1]): ConversationCall {
  return presentFields({ signal: abortSignal, userMessage: lastUserText(messages) });
}

function prepareStep<Name extends string, Message>(
  offer: SkillOffer,
  names: readonly Name[],
  step: AiSdkStep<Message>,
): AiSdkStepSettings<Name, Message> {
  const { messages, instructions, steps } = step;
  // A call that goes on behind an approval, or with what a client's tool answered, has no steps either.
  if (steps.length === 0 && !isOfTool(messages.at(-1))) offer.startTurn();
  const lost = offer.lost(messageTexts([instructions, messages]));
  const left = offer.narrow(names);
  return {
    ...(lost !== "" && giveAgain(step, lost)),
    ...(left.length < names.length && { activeTools: [...left] }),
  };
}

function giveAgain<Message>(
  step: AiSdkStep<Message>,
  lost: string,
): Pick<AiSdkStepSettings<never, Message>, "instructions" | "messages"> {
  // AI SDK 6 does not say what the instructions are, so nothing can be added to them.
  const isVersion6 = "experimental_context" in step && !("instructions" in step);
  if (isVersion6) return { messages: [{ role: "system", content: lost }, ...step.messages] };
  return { instructions: addInstructions(step.instructions, lost) };
}

function isOfTool(message: unknown): boolean {
  return (message as { readonly role?: unknown } | null | undefined)?.role === "tool";
}

function addInstructions(given: AiSdkInstructions | undefined, more: string): AiSdkInstructions {
  if (given === undefined || given === "") return more;
  if (typeof given === "string") return `${given}\n\n${more}`;
  return [given, { role: "system", content: more } as const].flat();
}
