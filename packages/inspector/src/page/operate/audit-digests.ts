/** The digests of the audit log, computed anew from what the lines say: a line that was changed has another one. Pure. */
import { canonicalText } from "@metier/base/json";
import type { ApiAuditLine } from "@metier/service/api";

/** Browsers have it on secure pages alone: by https, or on this machine. */
export const canCompute: boolean = globalThis.crypto?.subtle !== undefined;

/** The first line whose digest is not that of its contents. `lines`: as they are stored, with pseudonyms for people. */
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
