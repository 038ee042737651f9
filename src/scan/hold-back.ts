/** Which findings keep a skill from being used. Asked on use, of untrusted skills alone: a list scans nothing. */
import type { Skill } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import type { Finding } from "./finding.ts";
import { knownFindings } from "./known-findings.ts";
import { blockingFindings, judgeFindings, type ScanPolicy } from "./scan-policy.ts";

/** What holds a skill back. */
export interface HeldSkill {
  /** Worst first; at least one. */
  readonly findings: readonly [Finding, ...Finding[]];
  readonly policy: Pick<ScanPolicy, "block" | "diagnostics">;
}

/** `skill` has the trust that was decided for this use. */
export async function holdBack(
  skill: Skill,
  readPolicy: () => ScanPolicy,
  cacheFolder: string | undefined,
): Promise<HeldSkill | undefined> {
  // Given as an object: the program that embeds us wrote it.
  if (skill.location === "" || trustAllows(skill.trust.level, "be-used-despite-findings")) return undefined;
  const policy = readPolicy();
  const { name, form, location, directory, locked } = skill;
  const knownNames = policy.knownNames.filter((other) => other !== name);
  const found = await knownFindings({ name, form, location, directory, knownNames }, cacheFolder);
  const isInstalled = locked !== undefined && !locked.linked;
  const left = judgeFindings(found, { name, directory, isInstalled }, policy);
  const [first, ...more] = blockingFindings(left, policy);
  return first && { findings: [first, ...more], policy };
}

/** One sentence: what was found where, and that it is not used. */
export function describeHeld(name: string, { findings: [first, ...more], policy }: HeldSkill): string {
  const { id, path, line, message, severity } = first;
  const others = more.length > 0 ? `, and ${more.length} more` : "";
  return `Skill \`${name}\` is untrusted, and the scan found what blocks it: ${path}:${line} ${message} (\`${id}\`, \`${severity}\`${others}; \`scan.block\` is \`${policy.block}\`).`;
}

export function adviseHeld(name: string, { policy: { diagnostics } }: HeldSkill): string {
  const unread = diagnostics.map(({ message }) => ` ${message}`).join("");
  return `\`metier scan ${name}\` shows all of it. If it is harmless, accept it in a file that \`scan.baseline\` names, or trust the skill with \`metier trust ${name}\`; \`scan.block\` in your config says from which severity on a finding blocks.${unread}`;
}
