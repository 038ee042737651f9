/** A chat over a world and a script: what a test needs to talk, and to see what happened. */
import type { Chat, ChatOptions } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import {
  createScriptModel,
  type Script,
  type ScriptedTurn,
  type ScriptModel,
  type TurnExpectation,
} from "@metier/run/model";
import type { Metier, MetierOptions } from "@metier/runtime";
import type { World } from "./world.ts";

export interface OpenChat {
  readonly chat: Chat;
  readonly metier: Metier;
  readonly model: ScriptModel;
  /** Of all turns, and of the skills that were run. */
  readonly events: readonly RunEvent[];
}

export async function openChat(
  world: World,
  script: Script,
  chatOptions: ChatOptions = {},
  options: MetierOptions = {},
): Promise<OpenChat> {
  const model = createScriptModel(script);
  const metier = await world.metier({ models: { default: model }, ...options });
  const events: RunEvent[] = [];
  const chat = await metier.chat({ ...chatOptions, onEvent: (event) => void events.push(event) });
  return { chat, metier, model, events };
}

export function says(text: string, expect?: TurnExpectation): ScriptedTurn {
  return { answer: { text }, ...(expect && { expect }) };
}

export function calls(
  tool: string,
  input: Readonly<Record<string, string>>,
  expect?: TurnExpectation,
): ScriptedTurn {
  return { answer: { toolCalls: [{ tool, input }] }, ...(expect && { expect }) };
}

/** How the policy answered each call of that tool, in order. */
export function decisions(events: readonly RunEvent[], tool: string): readonly string[] {
  return events.flatMap((event) =>
    event.type === "tool-called" && event.tool === tool ? [event.decision] : [],
  );
}
