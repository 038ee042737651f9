/** The questions of an installation, to the person at the terminal: which skills, whether, and under which name. */
import type {
  ChoosableSkill,
  ConflictAnswer,
  InstallConflict,
  InstallDecisions,
} from "../../install/install-request.ts";
import { needsReview } from "../../install/scan-fetched.ts";
import { type CliContext, out } from "../context.ts";
import type { FetchProgressView } from "../output/fetch-progress.ts";
import { cutText, safeLine } from "../output/style.ts";

const WIDTH = 80;

export function askInTerminal(context: CliContext, progress: FetchProgressView): InstallDecisions {
  const { io } = context;
  return {
    choose(skills) {
      progress.end();
      return chooseSkills(context, skills);
    },
    conflict(about) {
      progress.end();
      return resolveConflict(context, about);
    },
    async review({ skills }) {
      const isDoubtful = skills.some(({ findings }) => needsReview(findings));
      const what = skills.length === 1 ? "it" : `these ${skills.length} skills`;
      const answer = (await io.ask(`Install ${what}? ${isDoubtful ? "[y/N]" : "[Y/n]"} `))
        .trim()
        .toLowerCase();
      return answer === "" ? !isDoubtful : answer === "y" || answer === "yes";
    },
  };
}

async function chooseSkills(
  context: CliContext,
  skills: readonly ChoosableSkill[],
): Promise<readonly string[]> {
  const lines = skills.map(({ name, path, description, valid }, index) => {
    const note = valid ? cutText(description, WIDTH) : "(not valid)";
    return `${String(index + 1).padStart(4)}  ${safeLine(name)}  ${safeLine(path)}\n        ${note}`;
  });
  out(context, `The source has ${skills.length} skills:\n${lines.join("\n")}`);
  for (;;) {
    const answer = await context.io.ask("Which? Numbers (1 3-5), names, `all`, or nothing for none: ");
    const picked = readChoice(answer, skills);
    if (typeof picked !== "string") return picked.map(({ path }) => path);
    out(context, picked);
  }
}

/** The skills, or what cannot be understood. */
export function readChoice(
  answer: string,
  skills: readonly ChoosableSkill[],
): readonly ChoosableSkill[] | string {
  const picked = new Set<ChoosableSkill>();
  for (const word of answer.split(/[\s,]+/).filter((part) => part !== "")) {
    const fits = readWord(word, skills);
    if (fits.length === 0) return `There is no skill \`${safeLine(word)}\` in the list.`;
    for (const skill of fits) picked.add(skill);
  }
  return skills.filter((skill) => picked.has(skill));
}

function readWord(word: string, skills: readonly ChoosableSkill[]): readonly ChoosableSkill[] {
  if (word === "all" || word === "*") return skills;
  const [, first, last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(word) ?? [];
  if (first === undefined) return skills.filter(({ name, path }) => name === word || path === word);
  const isListed = Number(first) >= 1 && Number(last) <= skills.length;
  return isListed ? skills.slice(Number(first) - 1, Number(last)) : [];
}

async function resolveConflict(
  context: CliContext,
  { called, installed, isSameSource }: InstallConflict,
): Promise<ConflictAnswer> {
  const what = isSameSource
    ? `${safeLine(called)} is installed already, and its source has other content now.`
    : `Another skill is installed as ${safeLine(called)}, from ${safeLine(installed.source)}.`;
  out(context, what);
  const answer = (await context.io.ask("[r]ename the new one, re[p]lace the old one, or [S]kip: "))
    .trim()
    .toLowerCase();
  if (answer === "p" || answer === "replace") return "replace";
  if (answer !== "r" && answer !== "rename") return "skip";
  return { rename: (await context.io.ask("New name: ")).trim() };
}
