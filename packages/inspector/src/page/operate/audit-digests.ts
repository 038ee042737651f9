/** Recomputes the digests of the audit log from its lines: a changed line has another digest. Pure. */
import { canonicalText } from "@metier/base/json";
import type { ApiAuditLine } from "@metier/service/api";

/** Browsers offer it only on secure pages: over https, or on this machine. */
export const canCompute: boolean = globalThis.crypto?.subtle !== undefined;

/** The first line whose digest doesn't match its contents. `lines`: as stored, with pseudonyms for people. */
export async function findChanged(
  tenant: string,
  lines: readonly ApiAuditLine[],
): Promise<number | undefined> {
  const digests = await Promise.all(lines.map((line) => digestOf(tenant, line)));
  return lines.find(({ digest }, index) => digest !== digests[index])?.seq;
}

async function digestOf(tenant: string, line: ApiAuditLine): Promise<string> {
  const { seq, actor, action, subject, detail, previous } = line;
  const sealed = { tenant, seq, at: Date.parse(line.at), actor, action, subject, detail, previous };
  const bytes = new TextEncoder().encode(canonicalText(sealed));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
