/** After an installation, in a terminal: whether what was installed is trusted right away. A question of its own. */
import { SkillError } from "../../foundation/errors.ts";
import type { InstalledSkill } from "../../install/install-request.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { Skill } from "../../skill/skill.ts";
import { identifyContent } from "../../trust/content-identity.ts";
import { grantSkill } from "../../trust/grant-store.ts";
import { type CliContext, out } from "../context.ts";
import { safeLine } from "../output/style.ts";

/** Only what the review showed, byte for byte: a folder that was changed since is not asked about. */
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
  const names = untrusted.map(({ skill }) => safeLine(skill.name)).join(", ");
  out(
    context,
    "\nTrusted skills may pre-approve tools, receive values of your config and run hooks; untrusted ones may not.",
  );
  const answer = (await context.io.ask(`Trust ${names} exactly as installed? [y/N] `)).trim().toLowerCase();
  if (answer !== "y" && answer !== "yes") return;
  for (const { skill, digest } of untrusted) trust(metier, skill, digest);
  out(context, `Trusted: ${names}. \`metier untrust\` takes it back.`);
  await metier.reload();
}

function trust({ places }: Metier, skill: Skill, digest: string): void {
  const outcome = identifyContent(skill);
  if (!outcome.ok) {
    throw new SkillError(outcome.diagnostic.message, "skill.load", { hint: outcome.diagnostic.hint });
  }
  const { identity } = outcome;
  if (identity.digest !== digest) {
    const message = `\`${skill.name}\` was changed since it was installed; it is not trusted.`;
    throw new SkillError(message, "skill.load", { hint: "`metier verify` shows what was changed." });
  }
  grantSkill(places, { name: skill.name, location: skill.location, identity });
}
