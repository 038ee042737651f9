/**
 * A prompt as events keep it: texts, calls and results. A file is named, not stored; a model's reasoning and what a
 * provider adds for its own use are left out, for they are no part of what was said.
 */
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { MessagePart, RecordedMessage } from "../events/run-event.ts";
import type { Json } from "../skill/manifest.ts";

export function systemText(prompt: LanguageModelV4Prompt): string | undefined {
  const texts = prompt.filter((message) => message.role === "system").map(({ content }) => content);
  return texts.length > 0 ? texts.join("\n\n") : undefined;
}

export function recordMessages(messages: LanguageModelV4Prompt): readonly RecordedMessage[] {
  return messages.flatMap((message) =>
    message.role === "system" ? [] : [{ role: message.role, parts: message.content.flatMap(recordPart) }],
  );
}

type Part = Exclude<LanguageModelV4Message, { role: "system" }>["content"][number];

function recordPart(part: Part): readonly MessagePart[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "reasoning":
    case "reasoning-file":
    case "custom":
      return [];
    case "tool-call":
      return [{ type: "tool-call", callId: part.toolCallId, tool: part.toolName, input: part.input as Json }];
    case "tool-result":
      return [
        { type: "tool-result", callId: part.toolCallId, tool: part.toolName, ...readOutput(part.output) },
      ];
    default:
      return [{ type: "text", text: `[${part.type}]` }];
  }
}

type ToolOutput = Extract<Part, { type: "tool-result" }>["output"];

function readOutput(output: ToolOutput): { readonly text: string; readonly isError: boolean } {
  switch (output.type) {
    case "text":
      return { text: output.value, isError: false };
    case "error-text":
      return { text: output.value, isError: true };
    case "execution-denied":
      return { text: output.reason ?? "denied", isError: true };
    default:
      return { text: JSON.stringify(output.value), isError: output.type === "error-json" };
  }
}
