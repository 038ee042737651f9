/**
 * The questions in the terminal when skills are installed or updated, and the separate question whether to trust them.
 */
import { SkillError } from "@metier/base/errors";
import { safeLine } from "@metier/base/text";
import {
  type ChoosableSkill,
  type ConflictAnswer,
  type InstallConflict,
  type InstallDecisions,
  type InstalledSkill,
  type InstallReview,
  isRisky,
  needsReview,
  type UpdateDecisions,
  type UpdateReview,
} from "@metier/install";
import type { Metier } from "@metier/runtime";
import type { Skill } from "@metier/skills";
import { grantSkill, identifyContent } from "@metier/skills/trust";
import { askWord, type CliContext, out } from "../context.ts";
import { namesText } from "../output/install-text.ts";
import type { ProgressView } from "../output/progress.ts";
import { fullReviewText, isSummarized } from "../output/review-text.ts";
import { cutText, styleFor } from "../output/style.ts";
import { areSummarized, diffText, fullUpdatesText } from "../output/update-review-text.ts";

const WIDTH = 80;

export function askInTerminal(context: CliContext, metier: Metier, progress: ProgressView): InstallDecisions {
  return {
    choose(skills) {
      progress.end();
      return chooseSkills(context, metier, skills);
    },
    conflict(about) {
      progress.end();
      return resolveConflict(context, about);
    },
    review: (review) => decideReview(context, metier, review),
  };
}

/** Accepts the whole word or its first letter. */
function readAnswers<Answer extends string>(...answers: readonly Answer[]): ReadonlyMap<string, Answer> {
  return new Map(answers.flatMap((answer) => [answer, answer.slice(0, 1)].map((word) => [word, answer])));
}

const REVIEW_ANSWERS = readAnswers("yes", "no", "show");

async function decideReview(context: CliContext, metier: Metier, review: InstallReview): Promise<boolean> {
  const { skills } = review;
  const usual = skills.some(({ findings }) => needsReview(findings)) ? "no" : "yes";
  const what = skills.length === 1 ? "it" : `these ${skills.length} skills`;
  if (isSummarized(review)) {
    const whole = (): string => fullReviewText(review, styleFor(context.io.color));
    const choices = usual === "no" ? "[y]es, [N]o, [s]how all" : "[Y]es, [n]o, [s]how all";
    const question = { text: `Install ${what}? ${choices}: `, answers: REVIEW_ANSWERS, usual } as const;
    return (await decideMany(context, metier, question, whole)) === "yes";
  }
  const answer = await askWord(context, `Install ${what}? ${usual === "no" ? "[y/N]" : "[Y/n]"} `);
  return REVIEW_ANSWERS.get(answer || usual) === "yes";
}

interface ManyQuestion<Answer extends string> {
  readonly text: string;
  readonly answers: ReadonlyMap<string, Answer | "show">;
  readonly usual: Answer;
}

/** The summary was shown; `show` pages the rest. */
async function decideMany<Answer extends string>(
  context: CliContext,
  metier: Metier,
  { text, answers, usual }: ManyQuestion<Answer>,
  whole: () => string,
): Promise<Answer> {
  const words = [...new Set(answers.values())].map((word) => `\`${word}\``);
  for (;;) {
    const answer = answers.get((await askWord(context, text)) || usual);
    if (answer === "show") {
      const { showPaged } = await import("./pager.ts");
      await showPaged(context, metier, whole());
    } else if (answer !== undefined) return answer;
    else out(context, `Answer ${words.slice(0, -1).join(", ")} or ${words.at(-1)}.`);
  }
}

/** Above this number, skills are listed only by name; `show` lists them all. */
const LISTED_UP_TO = 15;

async function chooseSkills(
  context: CliContext,
  metier: Metier,
  skills: readonly ChoosableSkill[],
): Promise<readonly string[]> {
  const isLong = skills.length > LISTED_UP_TO;
  const lines = skills.map(({ name, path, description, valid }, index) => {
    const note = valid ? cutText(description, WIDTH) : "(invalid)";
    return `${String(index + 1).padStart(4)}  ${safeLine(name)}  ${safeLine(path)}\n        ${note}`;
  });
  const list = isLong ? `  ${namesText(skills.map(({ name }) => name))}` : lines.join("\n");
  out(context, `The source has ${skills.length} skills:\n${list}`);
  const show = isLong ? "`show` for the list, " : "";
  for (;;) {
    const answer = await context.io.ask(`Which? Numbers (1 3-5), names, \`all\`, ${show}or Enter for none: `);
    if (isLong && answer.trim() === "show") {
      const { showPaged } = await import("./pager.ts");
      await showPaged(context, metier, lines.join("\n"));
      continue;
    }
    const picked = readChoice(answer, skills);
    if (typeof picked !== "string") return picked.map(({ path }) => path);
    out(context, picked);
  }
}

/** The skills, or the part that can't be understood. */
export function readChoice(
  answer: string,
  skills: readonly ChoosableSkill[],
): readonly ChoosableSkill[] | string {
  const picked = new Set<ChoosableSkill>();
  for (const word of answer.split(/[\s,]+/).filter((part) => part !== "")) {
    const fits = readWord(word, skills);
    if (fits.length === 0) return `No skill \`${safeLine(word)}\` in the list.`;
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
    ? `${safeLine(called)} is already installed, and its source has changed.`
    : `Another skill is installed as ${safeLine(called)}, from ${safeLine(installed.source)}.`;
  out(context, what);
  const answer = await askWord(context, "[r]ename the new one, re[p]lace the old one, or [S]kip: ");
  if (answer === "p" || answer === "replace") return "replace";
  if (answer !== "r" && answer !== "rename") return "skip";
  return { rename: (await context.io.ask("New name: ")).trim() };
}

const ANSWERS = readAnswers("take", "keep", "abort", "diff");
const TOGETHER_ANSWERS = readAnswers("yes", "each", "no", "show");

/** `onEach`: the user decides one by one, so each is shown. */
export function askAboutUpdates(context: CliContext, metier: Metier, onEach: () => void): UpdateDecisions {
  const style = styleFor(context.io.color);
  return {
    async decideAll(reviews) {
      if (!areSummarized(reviews)) return "each";
      const isCalm = reviews.every((review) => !isRisky(review) && review.local.length === 0);
      const usual = isCalm ? "yes" : "each";
      const choices = isCalm
        ? "[Y]es, [e]ach by itself, [n]o, [s]how all"
        : "[y]es, [E]ach by itself, [n]o, [s]how all";
      const text = `Take these ${reviews.length} new versions? ${choices}: `;
      const whole = (): string => fullUpdatesText(reviews, style);
      const answer = await decideMany(context, metier, { text, answers: TOGETHER_ANSWERS, usual }, whole);
      if (answer === "each") onEach();
      return answer === "yes" ? "take" : answer === "no" ? "keep" : answer;
    },
    async decide(review) {
      const usual = isRisky(review) || review.local.length > 0 ? "keep" : "take";
      for (;;) {
        const typed = await askWord(context, questionText(review, usual));
        const answer = ANSWERS.get(typed || usual);
        if (answer === "diff") out(context, diffText(review.diff, style));
        else if (answer !== undefined) return answer;
        else out(context, "Answer `take`, `keep`, `diff` or `abort`.");
      }
    },
  };
}

function questionText({ name, local }: UpdateReview, usual: "take" | "keep"): string {
  const take = usual === "take" ? "[T]ake" : "[t]ake";
  const keep = usual === "keep" ? "[K]eep" : "[k]eep";
  const also = local.length > 0 ? " (your changes are kept aside)" : "";
  return `${safeLine(name)}: ${take} the new version${also}, ${keep} the current one, show the [d]iff, or [a]bort: `;
}

/** Trusts only what the review showed, byte for byte: a folder that has changed since is skipped. */
export async function offerTrust(
  context: CliContext,
  metier: Metier,
  installed: readonly InstalledSkill[],
): Promise<void> {
  const untrusted = installed.flatMap(({ name, digest }) => {
    const skill = metier.get(`installed:${name}`);
    return skill?.trust.level === "untrusted" && skill.locked?.digest === digest ? [{ skill, digest }] : [];
  });
  if (untrusted.length === 0) return;
  const names = namesText(untrusted.map(({ skill }) => skill.name));
  const meaning = "may pre-approve tools, receive values from your config and run hooks";
  out(context, `\nTrusted skills ${meaning}; untrusted ones may not.`);
  const answer = await askWord(context, `Trust ${names} exactly as installed? [y/N] `);
  if (answer !== "y" && answer !== "yes") return;
  for (const { skill, digest } of untrusted) trust(metier, skill, digest);
  out(context, `Trusted: ${names}. Undo with \`metier untrust\`.`);
  await metier.reload();
}

function trust({ places }: Metier, skill: Skill, digest: string): void {
  const outcome = identifyContent(skill);
  if (!outcome.ok) {
    throw new SkillError(outcome.refusal.message, "skill.load", { hint: outcome.refusal.hint });
  }
  const identity = outcome.value;
  if (identity.digest !== digest) {
    const message = `\`${skill.name}\` has changed since it was installed, so it is not trusted.`;
    throw new SkillError(message, "skill.load", { hint: "`metier verify` shows the changes." });
  }
  grantSkill(places, { name: skill.name, location: skill.location, identity });
}
