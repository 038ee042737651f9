/**
 * `metier/ai-sdk`: skills for `generateText`, `streamText` and `ToolLoopAgent` of the AI SDK. Nothing of it is imported,
 * so that your own `ai` is the only one: schemas are Standard Schemas, and everything else is plain data.
 */
import type { Conversation } from "../disclose/conversation.ts";
import type { ConversationCall, ConversationTool } from "../run/conversation-tool.ts";
import type { SkillOffer, SkillOfferOptions } from "../run/offer-skills.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { ToolInput, ToolOutput } from "../tools/tool.ts";
import { lastUserText, messageTexts } from "./message-texts.ts";

/** Takes everything: the tool checks its input itself, and answers what is wrong so that the model can try again. */
export interface AiSdkSchema {
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

export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
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

/** What `prepareStep` is told. */
export interface AiSdkStep {
  readonly messages: readonly unknown[];
  readonly instructions?: AiSdkInstructions | undefined;
  readonly steps: readonly { readonly toolCalls: readonly AiSdkToolCall[] }[];
}

interface AiSdkToolCall {
  readonly toolName: string;
  readonly input: unknown;
}

interface AiSdkSystemMessage {
  role: "system";
  content: string;
}

export type AiSdkInstructions = string | AiSdkSystemMessage | AiSdkSystemMessage[];

export interface AiSdkStepSettings<Name extends string> {
  instructions?: AiSdkInstructions;
  activeTools?: Name[];
}

export interface AiSdkSkills {
  /** For `instructions`; put your own before it. `""` without skills. */
  readonly instructions: string;
  /** To spread into `tools`, beside your own. */
  readonly tools: Record<string, AiSdkTool>;
  /** What the conversation was given; keep it to go on later. */
  readonly conversation: Conversation;
  /**
   * Makes a `prepareStep`. It gives instructions of skills again that you have cut out of the messages, and while the
   * model follows a skill it takes away the tools that the skill disallows. `tools`: all that are active, yours too.
   */
  prepareStep<Name extends string>(
    tools: Readonly<Record<Name, unknown>>,
  ): (step: AiSdkStep) => AiSdkStepSettings<Name>;
}

/** One for each conversation. */
export async function aiSdkSkills(metier: Metier, options?: SkillOfferOptions): Promise<AiSdkSkills> {
  const offer = await metier.offerSkills(options);
  return {
    instructions: offer.instructions,
    tools: Object.fromEntries(offer.tools.map((tool) => [tool.name, toAiSdkTool(tool)])),
    conversation: offer.conversation,
    prepareStep: (tools) => {
      const names = Object.keys(tools) as (keyof typeof tools)[];
      return (step) => prepareStep(offer, names, step);
    },
  };
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
  const userMessage = lastUserText(messages);
  return { ...(abortSignal && { signal: abortSignal }), ...(userMessage !== undefined && { userMessage }) };
}

function prepareStep<Name extends string>(
  offer: SkillOffer,
  names: readonly Name[],
  { messages, instructions, steps }: AiSdkStep,
): AiSdkStepSettings<Name> {
  const lost = offer.lost(messageTexts([instructions, messages]));
  const followed = steps.flatMap(({ toolCalls }) => toolCalls.flatMap(skillOf));
  const left = offer.narrow(names, followed);
  return {
    ...(lost !== "" && { instructions: addInstructions(instructions, lost) }),
    ...(left.length < names.length && { activeTools: [...left] }),
  };
}

/** The skill that a call asked for: since the user's last message, as the steps of one answer are. */
function skillOf({ toolName, input }: AiSdkToolCall): readonly string[] {
  const skill = (input as { readonly skill?: unknown } | null)?.skill;
  return toolName === "use_skill" && typeof skill === "string" ? [skill] : [];
}

function addInstructions(given: AiSdkInstructions | undefined, more: string): AiSdkInstructions {
  if (given === undefined || given === "") return more;
  if (typeof given === "string") return `${given}\n\n${more}`;
  return [given, { role: "system", content: more } as const].flat();
}
