/** The audit log: who changed or approved what, each line with the digest of the one before. */
import type { JsonObject } from "@metier/base/json";
import { tableShape } from "@metier/base/shape";
import type { AuditLine } from "@metier/durable";
import { pageAnswer, pageFields, replyPage } from "../http/page.ts";
import { NUMBER_FIELD, numberText, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { defineRoute, type ServiceRoute } from "../http/route.ts";

interface AuditQuery {
  /** The number of a line, as a query writes it. */
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
  query: tableShape<AuditQuery>({ ...pageFields, after: numberText(0, Number.MAX_SAFE_INTEGER) }),
  answers: pageAnswer("lines", lineSchema),
  handle: ({ query: { after = 0, limit }, identity: { tenant } }, { records }) =>
    replyPage(
      { limit },
      {
        read: (page) => records.auditLines(tenant, after, page.limit),
        cursor: ({ seq }) => String(seq),
        show: showLine,
      },
    ),
});

export const AUDIT_ROUTES: readonly ServiceRoute[] = [readAudit];
