/** The audit log: who changed or approved what, each line with the digest of the one before. */
import type { JsonObject } from "@metier/base/json";
import { tableShape } from "@metier/base/shape";
import type { AuditLine } from "@metier/durable";
import {
  DEFAULT_PAGE,
  fieldsOf,
  listOf,
  NUMBER,
  numberText,
  pageLimit,
  TEXT,
  TIME,
} from "../http/query-shapes.ts";
import { answerWith, defineRoute, type ServiceRoute } from "../http/route.ts";

interface AuditQuery {
  readonly after?: number;
  readonly limit?: number;
}

const lineSchema = fieldsOf({
  seq: NUMBER,
  at: TIME,
  actor: TEXT,
  action: TEXT,
  subject: TEXT,
  previous: TEXT,
  digest: TEXT,
});

function showLine({ detail, at, tenant: _, ...line }: AuditLine): JsonObject {
  return { ...line, at: new Date(at).toISOString(), ...(detail !== undefined && { detail }) };
}

const readAudit = defineRoute<AuditQuery>({
  method: "GET",
  path: "/v1/audit",
  scope: "admin",
  group: "audit",
  summary: "Read the audit log, oldest first.",
  query: tableShape<AuditQuery>({ after: numberText(0, Number.MAX_SAFE_INTEGER), limit: pageLimit }),
  answers: {
    200: { about: "A page of lines; pass the last `seq` as `after` for more.", schema: listOf(lineSchema) },
  },
  async handle({ query: { after = 0, limit = DEFAULT_PAGE }, identity: { tenant } }, { records }) {
    const lines = await records.auditLines(tenant, after, limit);
    const next = lines.length === limit ? lines.at(-1)?.seq : undefined;
    return answerWith({ data: lines.map(showLine), ...(next !== undefined && { next: String(next) }) });
  },
});

export const AUDIT_ROUTES: readonly ServiceRoute[] = [readAudit];
