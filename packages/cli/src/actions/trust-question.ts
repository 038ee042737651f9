/**
 * The first-use question: lists a folder's skills and what its config file would change. Records only a clear yes or
 * no; anything else means "not now".
 */
import { relative } from "node:path";
import { UsageError } from "@metier/base/errors";
import { realPathOr } from "@metier/base/places";
import { compareText, safeLine } from "@metier/base/text";
import type { Metier } from "@metier/runtime";
import type { TrustQuestion } from "@metier/skills/trust";
import { askWord, type CliContext, fit, out } from "../context.ts";
import { recordFolder } from "../open-metier.ts";
import { count, cutText } from "../output/style.ts";

const MOST_ATTEMPTS = 3;
const QUESTION = "Trust this folder? [y]es, [n]o and don't ask again, or Enter for not now: ";

export async function askAboutFolder(
  context: CliContext,
  metier: Metier,
  question: TrustQuestion,
): Promise<void> {
  const { folder } = question;
  out(context, fit(context, `${questionText(question, metier)}\n`));
  const decision = await readDecision(context);
  if (decision === "later") {
    out(context, fit(context, `Not now: ${safeLine(folder)} stays untrusted. You'll be asked again.\n`));
    return;
  }
  const outcome = recordFolder(metier, question, decision);
  if (!outcome.ok) throw new UsageError(outcome.refusal.message, { hint: outcome.refusal.hint });
  const undo = decision === "trusted" ? "untrust" : "trust";
  const recorded = decision === "trusted" ? "Trusted" : "Not trusted, and you won't be asked again";
  out(context, `${recorded}. Undo it with \`metier ${undo} ${safeLine(folder)}\`.\n`);
}

const DECISIONS: ReadonlyMap<string, "trusted" | "denied" | "later"> = new Map([
  ["y", "trusted"],
  ["yes", "trusted"],
  ["n", "denied"],
  ["no", "denied"],
  ["", "later"],
]);

async function readDecision(context: CliContext): Promise<"trusted" | "denied" | "later"> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const typed = await askWord(context, QUESTION);
    const decision = DECISIONS.get(typed);
    if (decision !== undefined) return decision;
    out(context, `"${cutText(typed, 40)}" is neither yes nor no. Type \`y\`, \`n\` or just Enter.`);
  }
  return "later";
}

const MOST_NAMES = 12;
const MOST_KEYS = 12;
const WIDTH = 100;

function questionText(question: TrustQuestion, metier: Metier): string {
  const { folder, config, about } = question;
  const intro =
    about === "config-changed"
      ? `The config file of the trusted folder ${safeLine(folder)} has changed.`
      : `${safeLine(folder)} contains ${skillsText(question, metier)}.`;
  return [
    intro,
    ...(config ? configLines(config.path, metier) : []),
    "Trusted skills can pre-approve tools and receive values from your config. Untrusted skills can't.",
  ].join("\n");
}

function skillsText({ roots, skills }: TrustQuestion, { catalog }: Metier): string {
  if (skills === 0) return "a config file and no skills";
  const found = catalog.all.filter(({ root }) => roots.includes(realPathOr(root)));
  const names = [...new Set(found.map(({ name }) => safeLine(name)))].sort(compareText);
  const shown = names.slice(0, MOST_NAMES);
  const more = names.length > shown.length ? `, and ${names.length - shown.length} more` : "";
  return `${count(skills, "skill")}${shown.length > 0 ? `: ${shown.join(", ")}${more}` : ""}`;
}

/** Only settings that a yes would enable: an untrusted file may tighten limits anyway. */
function configLines(path: string, { config, project }: Metier): readonly string[] {
  const name = safeLine(relative(project.root, path) || path);
  const keys = config.projectFile?.ungranted ?? [];
  if (keys.length === 0) return [`Its config file ${name} changes nothing that needs trust.`];
  const more = keys.length - MOST_KEYS;
  return [
    `Its config file ${name} would set:`,
    ...keys.slice(0, MOST_KEYS).map((key) => `  ${cutText(key, WIDTH)}`),
    ...(more > 0 ? [`  and ${count(more, "more key")}`] : []),
  ];
}
