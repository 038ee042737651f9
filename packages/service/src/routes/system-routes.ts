/** Health, readiness, metrics and the API description: for load balancers, monitoring and programmers. */
import { done } from "@metier/base/result";
import { forAllTenants } from "@metier/durable";
import type { ApiWorker } from "../api-operate.ts";
import { objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { refuse } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import type { ServiceContext } from "../service-context.ts";

const GROUP = "system";
const statusSchema = objectOf({ status: TEXT_FIELD });

const readLiveness = defineRoute({
  method: "GET",
  path: "/livez",
  scope: "none",
  group: GROUP,
  summary: "Check that the process answers.",
  answers: { 200: { about: "It does.", schema: statusSchema } },
  handle: async () => replyWith({ status: "ok" }),
});

const readReadiness = defineRoute({
  method: "GET",
  path: "/readyz",
  scope: "none",
  group: GROUP,
  summary: "Check that the service takes requests: its store answers, and it is not stopping.",
  answers: { 200: { about: "It does.", schema: statusSchema } },
  async handle(_request, { engine, log, stopping }) {
    if (stopping.aborted) return refuse(503, "stopping", "The service is stopping.", "Use another instance.");
    try {
      await engine.counts();
      return replyWith({ status: "ok" });
    } catch (fault) {
      log.fault("readyz", fault);
      return refuse(503, "store_unavailable", "The service cannot reach its store.", "Check its log.");
    }
  },
});

const readMetrics = defineRoute({
  method: "GET",
  path: "/metrics",
  scope: "operator",
  group: GROUP,
  summary: "Get metrics as Prometheus text. Needs an admin key, except from the same machine.",
  answers: { 200: { about: "Prometheus text.", type: "text/plain" } },
  async handle(_request, context) {
    const { metrics, runMetrics } = context;
    const text = metrics.text(await readGauges(context), runMetrics.lines());
    return done(
      new Response(text, { headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" } }),
    );
  },
});

type Gauges = Parameters<ServiceContext["metrics"]["text"]>[0];

/**
 * For the whole service, whichever process is asked, except for the streams. How runs ended is counted where they end:
 * counting all kept runs again and again would be most of the store's work.
 */
async function readGauges({ engine, workers, streams, now }: ServiceContext): Promise<Gauges> {
  return forAllTenants(async () => {
    const [counts, queues, known] = await Promise.all([engine.counts(), engine.queues(), workers.list()]);
    const oldest = Math.min(now(), ...queues.flatMap(({ oldestAt }) => oldestAt ?? []));
    const countOf = (state: ApiWorker["state"]) => known.filter((worker) => worker.state === state).length;
    return [
      {
        name: "metier_engine_runs",
        about: "Runs that the engine holds, by state; `queued` is the length of the queue.",
        values: labelled("state", { queued: counts.queued, parked: counts.parked, running: counts.running }),
      },
      {
        name: "metier_queue_oldest_seconds",
        about: "Age of the oldest queued run.",
        values: { "": Math.max(0, now() - oldest) / 1000 },
      },
      {
        name: "metier_workers",
        about: "Workers by state.",
        values: labelled("state", {
          working: countOf("working"),
          draining: countOf("draining"),
          silent: countOf("silent"),
        }),
      },
      { name: "metier_event_streams", about: "Open event streams.", values: { "": streams.open } },
    ];
  });
}

function labelled(label: string, values: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(values).map(([word, value]) => [`${label}="${word}"`, value]));
}

export const SYSTEM_ROUTES: readonly ServiceRoute[] = [readLiveness, readReadiness, readMetrics];
