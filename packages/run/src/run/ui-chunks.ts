/**
 * A run for the AI SDK's user interfaces (`useChat`, `readUIMessageStream`): one assistant message, built only from
 * what clients may see. The types match `UIMessageChunk`, so `ai` needn't be loaded.
 */
import type { ClientEvent } from "../events/client-event.ts";
import type { RunStatus } from "../events/run-event.ts";

/** The content of `message.metadata`. */
export interface UIRunMetadata {
  /** The id of the run that writes the message. */
  readonly runId: string;
  /** Once the run has ended. */
  readonly status?: RunStatus;
}

/** A `data-skill` part of the message: a skill that runs in isolation for this answer. */
export interface UISkillData {
  /** The name of the skill. */
  readonly skill: string;
  /** `running`, then how it ended. */
  readonly status: "running" | RunStatus;
}

/** A chunk of the AI SDK's UI message stream, as `toUIMessageStream` writes it. */
export type RunUIChunk =
  | { type: "start"; messageId: string; messageMetadata: UIRunMetadata }
  | { type: "start-step" }
  | { type: "text-start"; id: string }
  | { type: "text-delta"; id: string; delta: string }
  | { type: "text-end"; id: string }
  | { type: "tool-input-available"; toolCallId: string; toolName: string; input: unknown; dynamic: true }
  | { type: "tool-output-available"; toolCallId: string; output: unknown; dynamic: true }
  | { type: "tool-output-error"; toolCallId: string; errorText: string; dynamic: true }
  | { type: "data-skill"; id: string; data: UISkillData }
  | { type: "finish-step" }
  | { type: "error"; errorText: string }
  | { type: "abort"; reason?: string }
  | {
      type: "finish";
      finishReason: "stop" | "length" | "error" | "other";
      messageMetadata: UIRunMetadata;
    };

const NOT_ALLOWED = "Not allowed.";
const FAILED = "The tool failed.";

/** Returns the chunks for each event, in order. One per stream: it remembers what is open. */
export function createChunkWriter(runId: string): {
  begin(): readonly RunUIChunk[];
  write(event: ClientEvent): readonly RunUIChunk[];
} {
  let openText: string | undefined;
  let texts = 0;
  let isInStep = false;
  const denied = new Set<string>();
  const closeText = (): readonly RunUIChunk[] => {
    const id = openText;
    openText = undefined;
    return id === undefined ? [] : [{ type: "text-end", id }];
  };
  const closeStep = (): readonly RunUIChunk[] => {
    const closed: RunUIChunk[] = [...closeText()];
    if (isInStep) closed.push({ type: "finish-step" });
    isInStep = false;
    return closed;
  };
  const write = (event: ClientEvent): readonly RunUIChunk[] => {
    switch (event.type) {
      case "run-started":
        return [];
      case "step-started": {
        const closed = closeStep();
        isInStep = true;
        return [...closed, { type: "start-step" }];
      }
      case "text-delta": {
        if (openText !== undefined) return [{ type: "text-delta", id: openText, delta: event.text }];
        texts += 1;
        openText = `text-${texts}`;
        return [
          { type: "text-start", id: openText },
          { type: "text-delta", id: openText, delta: event.text },
        ];
      }
      case "tool-called": {
        const { callId: toolCallId, tool: toolName, input = {} } = event;
        if (!event.allowed) denied.add(toolCallId);
        return [...closeText(), { type: "tool-input-available", toolCallId, toolName, input, dynamic: true }];
      }
      case "tool-finished":
        return [endCall(event, denied)];
      case "skill-started":
        return [tellSkill(event.skillRunId, { skill: event.skill, status: "running" })];
      case "skill-finished":
        return [tellSkill(event.skillRunId, { skill: event.skill, status: event.status })];
      case "run-finished":
        return [...closeStep(), ...endMessage(event)];
    }
  };
  return {
    begin: () => [{ type: "start", messageId: runId, messageMetadata: { runId } }],
    write,
  };
}

type Of<Type extends ClientEvent["type"]> = Extract<ClientEvent, { type: Type }>;

function endCall(event: Of<"tool-finished">, denied: ReadonlySet<string>): RunUIChunk {
  const { callId: toolCallId, isError, output } = event;
  if (!isError) return { type: "tool-output-available", toolCallId, output: output ?? null, dynamic: true };
  const errorText = output ?? (denied.has(toolCallId) ? NOT_ALLOWED : FAILED);
  return { type: "tool-output-error", toolCallId, errorText, dynamic: true };
}

function tellSkill(id: string, data: UISkillData): RunUIChunk {
  return { type: "data-skill", id, data };
}

function endMessage({ runId, status, limit, error }: Of<"run-finished">): readonly RunUIChunk[] {
  const messageMetadata: UIRunMetadata = { runId, status };
  const errorText = error?.message ?? "";
  switch (status) {
    case "completed":
      return [{ type: "finish", finishReason: "stop", messageMetadata }];
    case "limited": {
      const isCut = limit === "tokens" || limit === "output";
      return [{ type: "finish", finishReason: isCut ? "length" : "other", messageMetadata }];
    }
    case "cancelled":
      return [{ type: "abort", reason: errorText }];
    case "failed":
    case "refused":
      return [
        { type: "error", errorText },
        { type: "finish", finishReason: "error", messageMetadata },
      ];
  }
}
