/** The audit log: who changed or approved what, each line with the digest of the one before. */
import type { JsonObject } from "@metier/base/json";
import { tableShape } from "@metier/base/shape";
import type { AuditLine } from "@metier/durable";
import {
  DEFAULT_PAGE,
  listOf,
  NUMBER_FIELD,
  numberText,
  objectOf,
  pageLimit,
  TEXT_FIELD,
  TIME_FIELD,
} from "../http/query-shapes.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";

interface AuditQuery {
  readonly after?: number;
  readonly limit?: number;
}

const lineSchema = objectOf({
  seq: NUMBER_FIELD,
  at: TIME_FIELD,
  actor: TEXT_FIELD,
  action: TEXT_FIELD,
  subject: TEXT_FIELD,
  previous: TEXT_FIELD,
  digest: TEXT_FIELD,
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
    return replyWith({ data: lines.map(showLine), ...(next !== undefined && { next: String(next) }) });
  },
});

export const AUDIT_ROUTES: readonly ServiceRoute[] = [readAudit];
