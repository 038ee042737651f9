/** A skill that greets, its evals, and a model that follows it: for tests of evaluations. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Evaluation, type EvaluationOptions, evaluateSkill, type OpenMetier } from "@metier/evals";
import { type Asked, createTalkingModel, type Said } from "./talking-model.ts";
import { createWorld, skill, type World } from "./world.ts";

export const EVALS = {
  evals: [
    {
      id: 1,
      name: "greeting",
      prompt: "Greet the person in name.txt.",
      files: ["evals/files/name.txt"],
      assertions: [{ contains: "Good day, Ada" }, { file_exists: "greeting.txt" }, "The greeting is polite."],
    },
  ],
};

/** With the skill the file is read and another one written; without it, neither. */
export function answerPolitely({ system, user, results }: Asked): Said | string {
  if (system.includes("metier-grader")) {
    const passed = user.includes("Good day");
    return JSON.stringify({ results: [{ index: 1, passed, evidence: passed ? "“Good day”" : "“Hi”" }] });
  }
  if (!system.includes("Always say Good day")) return "Hi";
  if (results.length === 0) return { calls: [{ tool: "read_file", input: { path: "name.txt" } }] };
  const greeting = `Good day, ${/Ada/.exec(results[0] ?? "")?.[0]}`;
  if (results.length === 1) {
    return { calls: [{ tool: "write_file", input: { path: "greeting.txt", content: greeting } }] };
  }
  return greeting;
}

export function createGreeter(evals: object = EVALS, body = "Always say Good day."): World {
  const world = createWorld();
  world.write({
    "skills/greet/SKILL.md": skill("greet", "", body),
    "skills/greet/evals/evals.json": JSON.stringify(evals),
    "skills/greet/evals/files/name.txt": "Ada",
  });
  return world;
}

export function openWith(world: World, answer: (asked: Asked) => Said | string): OpenMetier {
  const model = createTalkingModel(answer);
  return (options) => world.metier({ trust: "grants", models: { default: model }, ...options });
}

export async function evaluate(
  world: World,
  answer: (asked: Asked) => Said | string = answerPolitely,
  more: Partial<EvaluationOptions> & { readonly trusted?: boolean } = {},
): Promise<Evaluation> {
  const { trusted = true, ...options } = more;
  const folder = join(world.root, "skills");
  const metier = await world.metier({ paths: [folder], ...(trusted && { trustedPaths: [folder] }) });
  return evaluateSkill(openWith(world, answer), {
    skill: metier.require("greet"),
    workspace: join(world.root, "greet-workspace"),
    approve: "all",
    ...options,
  });
}

export const readJson = (...path: readonly string[]): Record<string, unknown> =>
  JSON.parse(readFileSync(join(...path), "utf8"));
