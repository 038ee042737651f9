/** The HTML reports of `metier eval`: exports of the inspector's views, with the answers the API would give. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import type { Evaluation, Routing, RoutingEvaluation, TriggerEvaluation } from "@metier/evals";
import { exportPage } from "@metier/inspector";
import type { ApiFileText, ApiIteration, ApiRouted, ApiRouting } from "@metier/service/api";

/** A longer answer stays in its file next to the report. */
const MOST_TEXT = 256 * 1024;
/** The limit for all answers together: a report should fit in an email. */
const MOST_TEXTS = 16 * 1024 * 1024;
/** A larger matrix can't be read as a picture; the list of pairs has the same facts. */
const LARGEST_MATRIX = 60;

export function evalReport(skill: string, evaluation: Evaluation): string {
  const { benchmark, iteration, evals } = evaluation;
  const path = iterationPath(skill, iteration.number);
  const { skill_path: _, ...metadata } = benchmark.metadata;
  const answer: ApiIteration = {
    skill,
    number: iteration.number,
    benchmark: { ...benchmark, metadata } as unknown as JsonObject,
    evals: evals.map(({ id, name, prompt, expectedOutput }) => {
      return { id, name, prompt, ...(expectedOutput !== undefined && { expected: expectedOutput }) };
    }),
  };
  const outputs = benchmark.runs.flatMap((run) => run.outputs);
  return exportPage({
    title: `Evaluation of ${skill}`,
    address: `/evals/${encodeURIComponent(skill)}/${iteration.number}`,
    answers: toAnswers({ [path]: answer, ...readOutputs(path, iteration.path, outputs) }),
  });
}

export function triggerReport(evaluation: TriggerEvaluation, number: number): string {
  const { skill_name: skill } = evaluation;
  const answer: ApiIteration = { skill, number, triggers: evaluation as unknown as JsonObject };
  return exportPage({
    title: `Triggers of ${skill}`,
    address: `/evals/${encodeURIComponent(skill)}/${number}`,
    answers: toAnswers({ [iterationPath(skill, number)]: answer }),
  });
}

export function routingReport({ descriptions, search, model }: RoutingEvaluation): string {
  const { names, matrix, pairs } = descriptions;
  const answer: ApiRouting = {
    names,
    ...(names.length <= LARGEST_MATRIX && { matrix }),
    pairs,
    routed: [
      ...(search ? [describeRouting("words", search)] : []),
      ...(model ? [describeRouting(model.name || "a model", model)] : []),
    ],
  };
  return exportPage({
    title: "Routing of a catalog",
    address: "/routing",
    answers: toAnswers({ "/v1/routing": answer }),
  });
}

function describeRouting(by: string, { passed, total, queries }: Routing): ApiRouted {
  return {
    by,
    passed,
    total,
    queries: queries.map(({ query, expected, not, chosen, passed: isRight }) => ({
      query,
      wanted: expected === undefined ? `not ${not ?? ""}` : (expected ?? "none"),
      chosen: chosen ?? "none",
      isRight,
    })),
  };
}

function iterationPath(skill: string, number: number): string {
  return `/v1/evals/${encodeURIComponent(skill)}/${number}`;
}

/** The answers and files of all runs, as far as they are text and fit. */
function readOutputs(
  path: string,
  folder: string,
  outputs: readonly string[],
): Readonly<Record<string, ApiFileText>> {
  const texts: Record<string, ApiFileText> = {};
  let left = MOST_TEXTS;
  for (const output of outputs) {
    const file = join(folder, output);
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const text = size <= Math.min(MOST_TEXT, left) ? readText(file) : undefined;
    left -= text === undefined ? 0 : size;
    const address = output.split("/").map(encodeURIComponent).join("/");
    texts[`${path}/outputs/${address}`] = {
      path: output,
      size,
      ...(text !== undefined && { text }),
      isCut: text === undefined,
    };
  }
  return texts;
}

function readText(file: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch {
    return undefined; // Not text, or gone.
  }
}

/** API types are JSON, except for fields that are `undefined`. */
function toAnswers(answers: Readonly<Record<string, object>>): Readonly<Record<string, JsonObject>> {
  return answers as Readonly<Record<string, JsonObject>>;
}
