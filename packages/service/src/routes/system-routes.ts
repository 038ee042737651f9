/** Is it alive, is it ready, how is it doing, and what can it do: for load balancers, monitoring and programmers. */
import { done } from "@metier/base/result";
import { objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { refuse } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";

const GROUP = "system";
const statusSchema = objectOf({ status: TEXT_FIELD });

const readLiveness = defineRoute({
  method: "GET",
  path: "/livez",
  scope: "none",
  group: GROUP,
  summary: "Whether the process answers.",
  answers: { 200: { about: "It does.", schema: statusSchema } },
  handle: async () => replyWith({ status: "ok" }),
});

const readReadiness = defineRoute({
  method: "GET",
  path: "/readyz",
  scope: "none",
  group: GROUP,
  summary: "Whether the service takes requests: its store answers, and it is not stopping.",
  answers: { 200: { about: "It does.", schema: statusSchema } },
  async handle(_request, { engine, log, stopping }) {
    if (stopping.aborted) return refuse(503, "stopping", "The service is stopping.", "Use another instance.");
    try {
      await engine.counts();
      return replyWith({ status: "ok" });
    } catch (fault) {
      log.fault("readyz", fault);
      return refuse(
        503,
        "store_unavailable",
        "The store of the service does not answer.",
        "Look into its log.",
      );
    }
  },
});

const readMetrics = defineRoute({
  method: "GET",
  path: "/metrics",
  scope: "operator",
  group: GROUP,
  summary: "Metrics as Prometheus text: for admin keys, and without a key from the same machine.",
  answers: { 200: { about: "Prometheus text.", type: "text/plain" } },
  async handle(_request, { engine, metrics, streams }) {
    const { queued, parked, running } = await engine.counts();
    const states = { 'state="queued"': queued, 'state="parked"': parked, 'state="running"': running };
    const text = metrics.text([
      { name: "metier_engine_runs", about: "Runs that the engine holds, by state.", values: states },
      { name: "metier_event_streams", about: "Open event streams.", values: { "": streams.open } },
    ]);
    return done(
      new Response(text, { headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" } }),
    );
  },
});

export const SYSTEM_ROUTES: readonly ServiceRoute[] = [readLiveness, readReadiness, readMetrics];
