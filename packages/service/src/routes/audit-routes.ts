/**
 * The audit log: who changed or approved what, each line with the digest of the previous one. It contains pseudonyms,
 * and is shown with names as long as the people are users.
 */
import type { JsonObject } from "@metier/base/json";
import { choiceShape, tableShape } from "@metier/base/shape";
import type { AuditLine } from "@metier/durable";
import { pageAnswer, pageFields, replyPage } from "../http/page.ts";
import { NUMBER_FIELD, numberText, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { defineRoute, type ServiceRoute } from "../http/route.ts";

interface AuditQuery {
  /** The number of a line, as a query writes it. */
  readonly after?: number;
  readonly limit?: number;
  readonly as?: "shown" | "stored";
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
  summary:
    "Read the audit log, oldest first. With `as=stored`, people appear as pseudonyms, as in the stored lines that the digest chain covers.",
  query: tableShape<AuditQuery>({
    ...pageFields,
    after: numberText(0, Number.MAX_SAFE_INTEGER),
    as: choiceShape("shown", "stored"),
  }),
  answers: pageAnswer("lines", lineSchema),
  handle: ({ query: { after = 0, limit, as }, identity: { tenant } }, { records, people }) =>
    replyPage(
      { limit },
      {
        async read(page) {
          const lines = (await records.auditLines(tenant, after, page.limit)).map(showLine);
          return as === "stored" ? lines : people.show(tenant, lines);
        },
        cursor: ({ seq }) => String(seq),
        show: (line) => line,
      },
    ),
});

export const AUDIT_ROUTES: readonly ServiceRoute[] = [readAudit];
