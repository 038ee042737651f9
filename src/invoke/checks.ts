/**
 * Every check between an invocation and its run, in the order in which they count. That the skill exists comes before
 * all of them (`checks/exists.ts`), and that its file can be read after them.
 */
import { checkAccess } from "./checks/access.ts";
import { checkAvailable } from "./checks/available.ts";
import { checkCapabilities } from "./checks/capabilities.ts";
import type { Check, CheckSubject } from "./checks/check.ts";
import { checkCycle } from "./checks/cycle.ts";
import { checkDepth } from "./checks/depth.ts";
import { checkEnabled } from "./checks/enabled.ts";
import { checkEnvironment } from "./checks/environment.ts";
import { checkFindings } from "./checks/findings.ts";
import { checkInput } from "./checks/input.ts";
import { checkInvocable } from "./checks/invocable.ts";
import { checkTools } from "./checks/tools.ts";
import { checkTrust } from "./checks/trust.ts";
import type { RefusalCause } from "./invocation.ts";

export const CHECKS: readonly Check[] = [
  checkEnabled,
  checkAvailable,
  checkInvocable,
  checkAccess,
  checkFindings,
  checkTrust,
  checkInput,
  checkTools,
  checkEnvironment,
  checkCapabilities,
  checkCycle,
  checkDepth,
];

/** All of them are asked, so that a caller learns of everything at once. */
export async function runChecks(subject: CheckSubject): Promise<readonly RefusalCause[]> {
  const causes: RefusalCause[] = [];
  for (const check of CHECKS) {
    const cause = await check(subject);
    if (cause) causes.push(cause);
  }
  return causes;
}
