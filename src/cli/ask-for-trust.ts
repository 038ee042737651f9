/**
 * The first-use question: asked once per folder, in a terminal only. Without one nothing is trusted, and the reason
 * each skill shows says how to change that.
 */
import { UsageError } from "../foundation/errors.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Metier } from "../runtime/create-metier.ts";
import { projectConfigOf, recordFolder } from "../runtime/grant-trust.ts";
import { listTrustQuestions, type TrustQuestion } from "../trust/trust-question.ts";
import type { CommonFlags } from "./common-flags.ts";
import { type CliContext, out } from "./context.ts";
import { count, safeText } from "./output/style.ts";

/** The catalog after the answers. */
export async function askForTrust(context: CliContext, flags: CommonFlags, metier: Metier): Promise<Metier> {
  if (!context.io.interactive || flags.json) return metier;
  const questions = trustQuestions(metier);
  for (const question of questions) await ask(context, metier, question);
  if (questions.length > 0) await metier.reload();
  return metier;
}

function trustQuestions(metier: Metier): readonly TrustQuestion[] {
  const projectConfig = projectConfigOf(metier);
  return listTrustQuestions({
    roots: metier.roots
      .filter(({ kind }) => kind === "vouched")
      .map(({ scope, path, grantFolder }) => ({
        scope,
        realPath: realPathOr(path),
        grantFolder: realPathOr(grantFolder),
        skills: metier.catalog.places.find((place) => place.path === path)?.skills ?? 0,
      })),
    projectFolder: realPathOr(metier.project.root),
    ...(projectConfig && { projectConfig }),
    folderGrants: metier.grants.folders,
    trustedPaths: metier.config.config.skills.trustedPaths.map(realPathOr),
  });
}

async function ask(context: CliContext, metier: Metier, question: TrustQuestion): Promise<void> {
  out(context, `${questionText(question)}\n`);
  const answer = (await context.io.ask("Trust it? [y/N] ")).trim().toLowerCase();
  const decision = answer === "y" || answer === "yes" ? "trusted" : "denied";
  const outcome = recordFolder(metier, question, decision);
  if (!outcome.ok) throw new UsageError(outcome.diagnostic.message, { hint: outcome.diagnostic.hint });
  const undo = decision === "trusted" ? "untrust" : "trust";
  out(context, `Recorded; \`metier ${undo} ${safeText(question.folder)}\` changes it.\n`);
}

function questionText({ folder, skills, config, about }: TrustQuestion): string {
  const what = [
    ...(skills > 0 ? [count(skills, "skill")] : []),
    ...(config ? [`the config file ${safeText(config.path)}`] : []),
  ];
  const intro =
    about === "config-changed"
      ? `The config file of the trusted folder ${safeText(folder)} has changed.`
      : `${safeText(folder)} brings ${what.join(" and ")}.`;
  return `${intro}\nTrusted skills may pre-approve tools and receive values of your config; untrusted ones may not.`;
}
