/** The route table: everything the service answers, and the document that describes it. */
import type { JsonObject } from "@metier/base/json";
import { describeApi } from "../http/openapi.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { AGENT_ROUTES } from "./agent-routes.ts";
import { AUDIT_ROUTES } from "./audit-routes.ts";
import { CATALOG_ROUTES } from "./catalog-routes.ts";
import { CHANGE_ROUTES } from "./change-routes.ts";
import { EVAL_ROUTES } from "./eval-routes.ts";
import { GIVEN_ROUTES } from "./given-routes.ts";
import { KEY_ROUTES } from "./key-routes.ts";
import { PLAN_ROUTES } from "./plan-routes.ts";
import { PROVIDER_ROUTES } from "./provider-routes.ts";
import { QUESTION_ROUTES } from "./question-routes.ts";
import { QUEUE_ROUTES } from "./queue-routes.ts";
import { QUOTA_ROUTES } from "./quota-routes.ts";
import { ROUTING_ROUTES } from "./routing-routes.ts";
import { RUN_EVENT_ROUTES } from "./run-event-routes.ts";
import { RUN_EXPORT_ROUTES } from "./run-export-routes.ts";
import { RUN_FILE_ROUTES } from "./run-file-routes.ts";
import { RUN_ROUTES } from "./run-routes.ts";
import { SCHEDULE_ROUTES } from "./schedule-routes.ts";
import { SECRET_ROUTES } from "./secret-routes.ts";
import { SESSION_ROUTES } from "./session-routes.ts";
import { SIGN_IN_ROUTES } from "./sign-in-routes.ts";
import { SKILL_ROUTES } from "./skill-routes.ts";
import { STATISTICS_ROUTES } from "./statistics-routes.ts";
import { SYSTEM_ROUTES } from "./system-routes.ts";
import { TENANT_ROUTES } from "./tenant-routes.ts";
import { USAGE_ROUTES } from "./usage-routes.ts";
import { USER_ROUTES } from "./user-routes.ts";

/** All but the document that is made of them. */
export const API_ROUTES: readonly ServiceRoute[] = [
  ...SYSTEM_ROUTES,
  ...SIGN_IN_ROUTES,
  ...RUN_ROUTES,
  ...RUN_EVENT_ROUTES,
  ...RUN_FILE_ROUTES,
  ...RUN_EXPORT_ROUTES,
  ...QUESTION_ROUTES,
  ...SKILL_ROUTES,
  ...CATALOG_ROUTES,
  ...PLAN_ROUTES,
  ...ROUTING_ROUTES,
  ...EVAL_ROUTES,
  ...CHANGE_ROUTES,
  ...AGENT_ROUTES,
  ...SESSION_ROUTES,
  ...SCHEDULE_ROUTES,
  ...SECRET_ROUTES,
  ...PROVIDER_ROUTES,
  ...USAGE_ROUTES,
  ...STATISTICS_ROUTES,
  ...QUOTA_ROUTES,
  ...QUEUE_ROUTES,
  ...AUDIT_ROUTES,
  ...KEY_ROUTES,
  ...USER_ROUTES,
  ...TENANT_ROUTES,
  ...GIVEN_ROUTES,
];

export function allRoutes(version: string): readonly ServiceRoute[] {
  let document: JsonObject | undefined;
  const readDocument = defineRoute({
    method: "GET",
    path: "/v1/openapi.json",
    scope: "none",
    group: "system",
    summary: "This document.",
    answers: { 200: { about: "OpenAPI 3.1." } },
    async handle() {
      document ??= describeApi(routes, version);
      return replyWith(document);
    },
  });
  const routes: readonly ServiceRoute[] = [readDocument, ...API_ROUTES];
  return routes;
}
