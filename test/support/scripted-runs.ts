/** Runs over a temporary home and project whose model follows a script: real catalog, checks, tools, policy and log. */
import { join } from "node:path";
import type { Json } from "@metier/base/json";
import { answer, type RunRequest, type RunResult, type Tool } from "@metier/run";
import { type RunEvent, readRunLog, runFolder } from "@metier/run/events";
import {
  createScriptModel,
  type Script,
  type ScriptedTurn,
  type ScriptModel,
  type TurnExpectation,
} from "@metier/run/model";
import type { Metier, MetierOptions } from "@metier/runtime";
import { onTestFinished } from "vitest";
import { createWorld, skill, type World } from "./world.ts";

export interface ScriptedRuns {
  readonly metier: Metier;
  readonly model: ScriptModel;
  run(request: Partial<RunRequest> & Pick<RunRequest, "skill">): Promise<FinishedRun>;
}

export interface FinishedRun {
  readonly result: RunResult;
  /** What listeners heard, nested runs included. */
  readonly events: readonly RunEvent[];
}

/** A `Metier` over the world; the whole script must be used by the end of the test. */
export async function openRuns(
  world: World,
  script: Script,
  options: MetierOptions = {},
): Promise<ScriptedRuns> {
  const model = createScriptModel(script);
  const metier = await world.metier({ models: { default: model }, ...options });
  onTestFinished(() => model.assertDone());
  return {
    metier,
    model,
    async run(request) {
      const events: RunEvent[] = [];
      const result = await metier.run({
        ...request,
        onEvent(event) {
          events.push(event);
          request.onEvent?.(event);
        },
      });
      return { result, events };
    },
  };
}

/** A home with trusted skills of the user: name to frontmatter lines and body. */
export function createRunWorld(
  skills: Readonly<Record<string, readonly [more?: string, body?: string]>>,
): World {
  const world = createWorld();
  world.write(
    Object.fromEntries(
      Object.entries(skills).map(([name, [more, body]]) => [
        `home/.metier/skills/${name}/SKILL.md`,
        skill(name, more, body),
      ]),
    ),
  );
  return world;
}

/** The model's last word. */
export function says(text: string, expect?: TurnExpectation): ScriptedTurn {
  return { answer: { text }, ...(expect && { expect }) };
}

/** The model calls one tool. */
export function calls(tool: string, input: Json, expect?: TurnExpectation): ScriptedTurn {
  return { answer: { toolCalls: [{ tool, input }] }, ...(expect && { expect }) };
}

export function bash(command: string, expect?: TurnExpectation): ScriptedTurn {
  return calls("bash", { command }, expect);
}

export function useSkill(name: string, message = "Do it.", expect?: TurnExpectation): ScriptedTurn {
  return calls("use_skill", { skill: name, message }, expect);
}

/** A tool of the embedding program; any object is an input for it. */
export function programTool(
  name: string,
  execute: string | Tool["execute"],
  effect: Tool["effect"] = "read",
): Tool {
  return {
    name,
    description: `The ${name} tool.`,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    effect,
    execute: typeof execute === "string" ? async () => answer(execute) : execute,
  };
}

/** What the log of a run holds. */
export function readLog({ home }: Pick<World, "home">, runId: string): readonly RunEvent[] {
  const runs = join(home, ".metier", "state", "runs");
  const reading = readRunLog(runFolder({ runs }, runId).log);
  if (!reading.ok) throw new Error(reading.refusal.message);
  return reading.value.events;
}

/** The events of one type. */
export function eventsOf<Type extends RunEvent["type"]>(
  events: readonly RunEvent[],
  type: Type,
): readonly Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);
}
