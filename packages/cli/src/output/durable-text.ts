/** Durable runs that haven't ended, for people: their state, their questions, and how to continue them. */
import { safeLine } from "@metier/base/text";
import type { Question } from "@metier/durable";
import { inputText } from "./run-progress.ts";
import { cutText, type Style } from "./style.ts";

export interface WaitingRun {
  readonly runId: string;
  readonly skill: string;
  /**
   * `queued` and `running`: a process is advancing it. `interrupted`: it was given back, or its process ended first.
   */
  readonly status: "queued" | "running" | "waiting" | "interrupted";
  readonly startedAt: string;
  /** Its questions, one per line. */
  readonly questions: readonly string[];
  /** The command that continues it; absent if the service does. */
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
      `    ${style.dim(resume ?? "continues in `metier serve`; answer over its API")}`,
    ].join("\n"),
  );
  return [style.bold("Unfinished"), ...blocks].join("\n");
}
