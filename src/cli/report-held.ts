/** What the scan says of a skill that someone asks `metier doctor` about, as a use of it would hear. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Metier } from "../runtime/create-metier.ts";
import { adviseHeld, describeHeld, holdBack } from "../scan/hold-back.ts";
import { readScanPolicy } from "../scan/scan-policy.ts";
import type { Skill } from "../skill/skill.ts";

export async function reportHeld(
  { config, catalog, places }: Metier,
  skill: Skill,
): Promise<readonly Diagnostic[]> {
  const policy = readScanPolicy(config.config.scan, catalog.names());
  const held = await holdBack(skill, () => policy, places.cache);
  if (held === undefined) return [];
  const { name, location: path } = skill;
  const message = describeHeld(name, held);
  return [{ code: "scan.blocked", severity: "warning", path, message, hint: adviseHeld(name, held) }];
}
