/** Which lines of the audit log are shown. Pure. */
import type { ApiAuditLine } from "@metier/service/api";

const FILTERS = ["action", "actor", "subject"] as const;

export type AuditFilter = Readonly<Record<(typeof FILTERS)[number], string>>;

export function readAuditFilter(query: ReadonlyMap<string, string>): AuditFilter {
  return Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""])) as AuditFilter;
}

/** The action must match exactly; for the others a part is enough, ignoring case. */
export function filterAudit(
  lines: readonly ApiAuditLine[],
  { action, actor, subject }: AuditFilter,
): readonly ApiAuditLine[] {
  if (action === "" && actor === "" && subject === "") return lines;
  const [wantedActor, wantedSubject] = [actor.toLowerCase(), subject.toLowerCase()];
  return lines.filter(
    (line) =>
      (action === "" || line.action === action) &&
      line.actor.toLowerCase().includes(wantedActor) &&
      line.subject.toLowerCase().includes(wantedSubject),
  );
}

export function listActions(lines: readonly ApiAuditLine[]): readonly string[] {
  return [...new Set(lines.map(({ action }) => action))].sort();
}
