/** Does the scan hold it back? Only what is untrusted is scanned, and the same content only once. */
import { adviseHeld, describeHeld } from "../../scan/hold-back.ts";
import type { Check } from "./check.ts";

export const checkFindings: Check = async ({ skill, host }) => {
  const held = await host.heldBack?.(skill);
  if (held === undefined) return undefined;
  return {
    reason: "blocked",
    message: describeHeld(skill.name, held),
    hint: adviseHeld(skill.name, held),
    data: {
      block: held.policy.block,
      findings: held.findings.map(({ id, severity, path, line }) => ({ id, severity, path, line })),
    },
  };
};
