/** One stream for everything that lists show: a run, an approval or the catalog has changed. */
import { answerStream } from "../http/answer-stream.ts";
import { streamChanges } from "../http/change-stream.ts";
import { defineRoute, type ServiceRoute } from "../http/route.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";

const followChanges = defineRoute({
  method: "GET",
  path: "/v1/changes",
  scope: "read",
  group: "system",
  summary: "Follow changes to runs, approvals and skills as server-sent events.",
  answers: {
    200: {
      about:
        "`data:` has `kind` (`run`, `approval` or `catalog`) and the `id`; without an `id`, everything of that kind may have changed.",
      type: "text/event-stream",
    },
  },
  async handle({ identity, signal }, context) {
    const { tenant } = identity;
    const { insight, journal, notices, times } = context;
    if (tenant === DEFAULT_TENANT) await insight.open(tenant); // From now on it is known when skills change.
    return answerStream(context, identity, signal, async (life) =>
      streamChanges({
        notices,
        onCatalog: tenant === DEFAULT_TENANT ? insight.onChange : undefined,
        tenant,
        tenantOf: async (runId) => (await journal.get(runId))?.tenant,
        heartbeatMs: times.heartbeatMs,
        ...life,
        onFault: (fault) => context.log.fault("changes", fault),
      }),
    );
  },
});

export const CHANGE_ROUTES: readonly ServiceRoute[] = [followChanges];
