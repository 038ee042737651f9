/**
 * Questions of a run to the person at the terminal: may this tool be called, may this be changed, and what the model wants
 * to know.
 */
import type { ApprovalAnswer, AskApproval } from "../../run/approvals.ts";
import type { RunRequest } from "../../run/run-request.ts";
import type { AskUser } from "../../tools/ask-user.ts";
import { confirmInTerminal } from "../capability/confirm-mutation.ts";
import type { CliContext } from "../context.ts";
import { safeText } from "../output/style.ts";

export interface QuestionFlags {
  readonly approve: boolean;
  readonly json: boolean;
  readonly events?: boolean;
}

/** `--approve` says yes to tools, and to nothing else; without it, and without a terminal, nobody can be asked. */
export function questionsFor(
  { io }: CliContext,
  { approve, json, events = false }: QuestionFlags,
): Pick<RunRequest, "approve" | "askUser" | "confirm"> {
  const canAsk = io.interactive && !json && !events;
  if (!canAsk) return approve ? { approve: "all" } : {};
  return { approve: approve ? "all" : askApproval(io), askUser: askUser(io), confirm: confirmInTerminal(io) };
}

const ANSWERS: Readonly<Record<string, ApprovalAnswer>> = {
  y: "yes",
  yes: "yes",
  a: "always",
  always: "always",
};

function askApproval(io: CliContext["io"]): AskApproval {
  return async ({ skill, tool, input, rule }) => {
    const what = tool === "bash" && typeof input.command === "string" ? input.command : JSON.stringify(input);
    io.stderr.write(
      `\n${safeText(skill)} wants to call ${safeText(tool)} (${safeText(rule)}):\n${indent(what)}\n`,
    );
    const answer = (await io.ask("Allow it? [y]es, [a]lways for this same call, [N]o: "))
      .trim()
      .toLowerCase();
    return ANSWERS[answer] ?? "no";
  };
}

/** All of it: nobody can agree to what they do not see. */
function indent(text: string): string {
  return safeText(text).replace(/^/gm, "  ");
}

function askUser(io: CliContext["io"]): AskUser {
  return async ({ question, options }) => {
    const choices = options.map((option, index) => `  ${index + 1}. ${safeText(option)}\n`).join("");
    io.stderr.write(`\n${safeText(question)}\n${choices}`);
    const answer = (await io.ask("> ")).trim();
    const chosen = /^\d+$/.test(answer) ? options[Number(answer) - 1] : undefined;
    return chosen ?? (answer === "" ? undefined : answer);
  };
}
