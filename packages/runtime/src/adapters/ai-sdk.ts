/**
 * `metier/ai-sdk`: skills for `generateText`, `streamText` and `ToolLoopAgent` of AI SDK 6 and 7. It imports nothing
 * from the SDK, so your own `ai` is the only copy: schemas are Standard Schemas, everything else is plain data.
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

/** Accepts everything: the tool checks its own input and reports errors so that the model can try again. */
export interface AiSdkSchema {
  /** The Standard Schema interface, with a JSON Schema for the model; `validate` accepts every value. */
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

/** A tool in the shape of the AI SDK's `tools`. */
export interface AiSdkTool {
  /** What the model reads about the tool. */
  readonly description: string;
  /** The tool's input, as a Standard Schema. */
  readonly inputSchema: AiSdkSchema;
  /** Answers a call; aborting `abortSignal` ends it. The last user message is passed to a skill's run. */
  execute(
    input: ToolInput,
    options: { readonly abortSignal?: AbortSignal | undefined; readonly messages: readonly unknown[] },
  ): Promise<ToolOutput>;
  /** The text only, marked as an error if it reports one. */
  toModelOutput(result: { readonly output: ToolOutput }): {
    readonly type: "text" | "error-text";
    readonly value: string;
  };
}

/** The argument of `prepareStep`. AI SDK 6 doesn't pass `instructions`. */
export interface AiSdkStep<Message = unknown> {
  /** The messages this step would send. */
  readonly messages: readonly Message[];
  /** The instructions this step would send; absent in AI SDK 6. */
  readonly instructions?: AiSdkInstructions | undefined;
  /** The steps so far. If empty and the last message isn't from a tool, a turn starts. */
  readonly steps: readonly unknown[];
}

/** A system message of the AI SDK. */
interface AiSdkSystemMessage {
  /** Always `system`. */
  role: "system";
  /** Text for the model. */
  content: string;
}

/** The AI SDK's `instructions`: a string, or one or more system messages. */
export type AiSdkInstructions = string | AiSdkSystemMessage | AiSdkSystemMessage[];

/** What `prepareStep` changes for one step; absent fields stay as they are. */
export interface AiSdkStepSettings<Name extends string, Message = unknown> {
  /** The step's instructions plus skill instructions that were lost; AI SDK 7 only. */
  instructions?: AiSdkInstructions;
  /** The tools that the followed skills allow; absent if they allow all. */
  activeTools?: Name[];
  /** For AI SDK 6, whose steps can't extend the instructions: a system message before the others. */
  messages?: (Message | AiSdkSystemMessage)[];
}

/** Returned by `aiSdkSkills`: instructions, tools and `prepareStep` for one conversation. */
export interface AiSdkSkills extends AdaptedSkills {
  /** For `instructions`; put your own first. `""` without skills. */
  readonly instructions: string;
  /** Spread into `tools`, next to your own. */
  readonly tools: Record<string, AiSdkTool>;
  /**
   * Creates a `prepareStep`. It restores skill instructions that you trimmed from the messages and, while the model
   * follows a skill, removes the tools that the skill disallows. `tools`: all active tools, including yours.
   */
  prepareStep<Name extends string>(
    tools: Readonly<Record<Name, unknown>>,
  ): <Message>(step: AiSdkStep<Message>) => AiSdkStepSettings<Name, Message>;
  /**
   * Wraps your own tools so that each checks its calls first: a call that a followed skill disallows returns an error
   * with the reason. Without it, a tool is removed entirely if a skill disallows some of its calls (`Bash(rm:*)`).
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

/** Mastra uses the same. */
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
 * The AI SDK closes every object schema that doesn't define other properties by a schema. A skill's input is such an
 * object: only the skill knows its properties.
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
  // A call that continues after an approval, or with a client tool's result, has no steps either.
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
  // AI SDK 6 doesn't pass the instructions, so they can't be extended.
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
