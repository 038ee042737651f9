/** Previews a run before it is started. No model is asked, and nothing runs. */
import { tableShape } from "@metier/base/shape";
import { NUMBER_FIELD, objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { holdsScope } from "../keys/scopes.ts";
import { makeOrder, type RunWish } from "../runs/order-run.ts";
import { wishFields } from "./run-routes.ts";

const planned = objectOf(
  {
    ok: { type: "boolean" },
    skill: TEXT_FIELD,
    trust: TEXT_FIELD,
    trustReason: TEXT_FIELD,
    model: TEXT_FIELD,
    tools: {
      type: "array",
      items: objectOf({ name: TEXT_FIELD, decision: { enum: ["allow", "ask", "deny"] }, rule: TEXT_FIELD }),
    },
    backend: TEXT_FIELD,
    declared: { type: "object" },
    granted: { type: "object" },
    limits: { type: "object", additionalProperties: NUMBER_FIELD },
    system: TEXT_FIELD,
    message: TEXT_FIELD,
    code: TEXT_FIELD,
    hint: TEXT_FIELD,
  },
  ["ok"],
);

const planRun = defineRoute<Record<never, never>, RunWish>({
  method: "POST",
  path: "/v1/catalog/plan",
  scope: "run",
  group: "catalog",
  summary:
    "Preview a run: its tools and the rule for each, what it can reach, its limits, or why it would not run.",
  body: tableShape<RunWish>(wishFields, ["skill"]),
  answers: { 200: { about: "The plan, or why the run would be refused.", schema: planned } },
  async handle({ body, identity }, context) {
    const order = await makeOrder(context, identity, body);
    if (!order.ok) {
      const { code, message, hint } = order.refusal;
      return replyWith({ ok: false, code, message, hint });
    }
    const insight = await context.insight.open(identity.tenant);
    // The prompt reveals how the server is set up.
    const seesSystem = context.person !== undefined || holdsScope(identity.scopes, "admin");
    return replyWith(await insight.plan(order.value, { userId: identity.userId, seesSystem }));
  },
});

export const PLAN_ROUTES: readonly ServiceRoute[] = [planRun];
