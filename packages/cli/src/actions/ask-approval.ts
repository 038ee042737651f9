/**
 * The question before a tool call: shows the whole command, or the diff of a write, and how far a yes reaches.
 * "Always" shows the line it adds to the user's config and adds it through the config editor.
 */
import { safeLine, safeText } from "@metier/base/text";
import type { ApprovalAnswer, ApprovalQuestion, AskApproval } from "@metier/run";
import { allowForGood, ruleLine } from "@metier/skills/config";
import { askWord, type CliIo } from "../context.ts";
import { type Style, styleFor } from "../output/style.ts";
import { diffText } from "../output/update-review-text.ts";

export interface ApprovalPlace {
  /** The user's config file. Without it, "always" isn't offered. */
  readonly configFile?: string | undefined;
}

type Choice = "once" | "session" | "always" | "no" | "diff";

const CHOICES: ReadonlyMap<string, Choice> = new Map([
  ["y", "once"],
  ["yes", "once"],
  ["o", "once"],
  ["once", "once"],
  ["s", "session"],
  ["session", "session"],
  ["a", "always"],
  ["always", "always"],
  ["d", "diff"],
  ["diff", "diff"],
  ["n", "no"],
  ["no", "no"],
  ["", "no"],
]);

export function askApproval(io: CliIo, { configFile }: ApprovalPlace = {}): AskApproval {
  const style = styleFor(io.color);
  return async (question) => {
    const { rules = [] } = question;
    const file = rules.length > 0 ? configFile : undefined;
    const hidden = countHidden(question);
    const choices = choicesText(rules, file, hidden, style);
    await io.dropTyped?.();
    io.stderr.write(`\n${questionText(question, style)}\n${choices}\n`);
    const offered = listOffered(file, hidden);
    for (;;) {
      const choice = await askChoice(io, offered);
      if (choice === "diff") io.stderr.write(`${diffText(question.diff ?? "", style)}\n${choices}\n`);
      else if (choice !== "always") return ANSWER_OF[choice];
      else if (file !== undefined) return writeRules(io, rules, file, style);
    }
  };
}

function listOffered(file: string | undefined, hidden: number): readonly Choice[] {
  const always = file === undefined ? [] : (["always"] as const);
  return ["once", "session", ...always, ...(hidden > 0 ? (["diff"] as const) : []), "no"];
}

/** Asks until the answer is one of the choices. */
async function askChoice(io: CliIo, offered: readonly Choice[]): Promise<Choice> {
  const letters = `[${offered.map((choice) => LETTERS[choice]).join("/")}]`;
  for (;;) {
    const typed = CHOICES.get(await askWord({ io }, `Allow? ${letters} `));
    const choice = offered.find((known) => known === typed);
    if (choice !== undefined) return choice;
    io.stderr.write(`Type one of ${letters.replace("N", "n")}. Enter means no.\n`);
  }
}

const LETTERS: Readonly<Record<Choice, string>> = {
  once: "y",
  session: "s",
  always: "a",
  diff: "d",
  no: "N",
};

const ANSWER_OF: Readonly<Record<Exclude<Choice, "always" | "diff">, ApprovalAnswer>> = {
  once: "yes",
  session: "session",
  no: "no",
};

/** A longer diff would push its first lines and the question off the screen. */
const MOST_LINES = 60;
const SHOWN_LINES = 30;
const LAST_LINES = 5;

/** The number of diff lines that only `d` shows. */
function countHidden({ diff = "" }: ApprovalQuestion): number {
  const lines = diff.split("\n").length;
  return lines > MOST_LINES ? lines - SHOWN_LINES - LAST_LINES : 0;
}

/** The first and last lines, with a count of the lines left out between them. */
function shortDiff(diff: string, hidden: number, style: Style): string {
  if (hidden === 0) return diffText(diff, style);
  const lines = diff.split("\n");
  const changed = (sign: string): number => lines.slice(2).filter((line) => line.startsWith(sign)).length;
  return [
    diffText(lines.slice(0, SHOWN_LINES).join("\n"), style),
    style.yellow(
      `  … ${hidden} lines not shown (${changed("+")} added, ${changed("-")} removed in total); d shows them`,
    ),
    diffText(lines.slice(-LAST_LINES).join("\n"), style),
  ].join("\n");
}

/** Shows a command in full: nobody can agree to what they can't see. */
function questionText(question: ApprovalQuestion, style: Style): string {
  const { skill, tool, input, rule, diff } = question;
  const head = `${style.bold(`${safeLine(skill)} wants to call ${safeLine(tool)}`)} (${safeLine(rule)}):`;
  if (diff !== undefined) return `${head}\n${shortDiff(diff, countHidden(question), style)}`;
  const what = tool === "bash" && typeof input.command === "string" ? input.command : JSON.stringify(input);
  return `${head}\n${safeText(what).replace(/^/gm, "  ")}`;
}

function choicesText(
  rules: readonly string[],
  file: string | undefined,
  hidden: number,
  style: Style,
): string {
  const covered = rules.map((pattern) => `\`${safeLine(pattern)}\``).join(" and ");
  const session = rules.length > 0 ? `every call that ${covered} covers` : "this same call";
  return [
    `  ${style.bold("y")}  once`,
    `  ${style.bold("s")}  until this session ends: ${session}`,
    ...(file === undefined
      ? []
      : [
          `  ${style.bold("a")}  always, in every project: adds to [tools] in ${safeLine(file)}`,
          ...rules.map((pattern) => `       ${style.cyan(showRule(pattern))}`),
        ]),
    ...(hidden > 0 ? [`  ${style.bold("d")}  show the whole diff first`] : []),
    `  ${style.bold("n")}  no (default)`,
  ].join("\n");
}

/** If the file can't be written, the call is allowed for this session and the user hears why. */
async function writeRules(
  io: CliIo,
  rules: readonly string[],
  file: string,
  style: Style,
): Promise<ApprovalAnswer> {
  const written = await allowForGood(file, rules);
  if (written.ok) {
    io.stderr.write(style.dim(`Added to ${safeLine(file)}: ${rules.map(showRule).join(", ")}\n`));
  } else {
    const { message, hint = "" } = written.refusal;
    io.stderr.write(
      style.yellow(`${safeText(`${message} ${hint}`.trim())} Allowed for this session only.\n`),
    );
  }
  return "session";
}

function showRule(pattern: string): string {
  return safeLine(ruleLine(pattern));
}
