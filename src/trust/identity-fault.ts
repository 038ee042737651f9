/** Why a skill has no content identity, as a diagnostic: each cause one code, one sentence and what to do. */
import type { Diagnostic } from "../foundation/diagnostic.ts";

type IdentityFaultCode = Extract<Diagnostic["code"], `identity.${string}`>;

export interface IdentityFault {
  readonly ok: false;
  readonly diagnostic: Diagnostic;
}

const HINTS: Record<IdentityFaultCode, string> = {
  "identity.unreadable": "Make it readable for your user, or remove it.",
  "identity.limit": "Keep large data outside the skill, or split the skill.",
  "identity.special-file": "Only files, folders and links can be part of a skill; remove it.",
  "identity.name-not-utf8": "Rename the file to a UTF-8 name.",
  "identity.unstable": "Wait until nothing writes to the skill any more, then try again.",
  "identity.skill-file-outside": "Replace the link by the file it leads to.",
};

export function identityFault(code: IdentityFaultCode, path: string, message: string): IdentityFault {
  return { ok: false, diagnostic: { code, severity: "error", path, message, hint: HINTS[code] } };
}

export function unreadableFault(path: string, error: unknown): IdentityFault {
  return identityFault("identity.unreadable", path, `It cannot be read: ${(error as Error).message}.`);
}
