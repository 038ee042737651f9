/** Durable runs that have not ended, for people: how they stand, what they ask, how to go on with them. */
import { safeLine } from "@metier/base/text";
import type { Question } from "@metier/durable";
import { inputText } from "./run-progress.ts";
import { cutText, type Style } from "./style.ts";

export interface WaitingRun {
  readonly runId: string;
  readonly skill: string;
  /** `queued` and `running`: a process is at work on it. `interrupted`: it was given back, or its process ended before it. */
  readonly status: "queued" | "running" | "waiting" | "interrupted";
  readonly startedAt: string;
  /** What it asks, a line each. */
  readonly questions: readonly string[];
  /** The command that goes on with it; absent: the service does. */
  readonly resume?: string | undefined;
}

const WIDTH = 76;

/** `bash: rm -r build` */
export function questionLine({ kind, body }: Pick<Question, "kind" | "body">): string {
  const { tool, input, question } = body;
  return safeLine(kind === "question" ? String(question) : `${String(tool)}: ${inputText(input)}`);
}

export function waitingText(runs: readonly WaitingRun[], style: Style): string {
  const blocks = runs.map(({ runId, skill, status, questions, resume }) =>
    [
      `  ${runId}  ${style.yellow(status)}  ${style.bold(cutText(skill, 32))}`,
      ...questions.map((line) => `    ${style.dim("asks")} ${cutText(line, WIDTH - 9)}`),
      `    ${style.dim(resume ?? "goes on in `metier serve`; answer over its API")}`,
    ].join("\n"),
  );
  return [style.bold("Not ended"), ...blocks].join("\n");
}
