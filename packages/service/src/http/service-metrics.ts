/** The service's counters and sums as Prometheus text. Labels are fixed words: never a path, name or id. */
import type { StartQuotas } from "@metier/durable";
import { createHistogram, metricLines } from "./metric-text.ts";

/** Upper bounds in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

interface Gauge {
  readonly name: string;
  readonly about: string;
  /** By labels as Prometheus writes them, `state="queued"`; `""` without. */
  readonly values: Readonly<Record<string, number>>;
}

export interface ServiceMetrics {
  countRequest(method: string, route: string, status: number, seconds: number): void;
  count(counter: ServiceCounter): void;
  /** A run that wasn't started because of this quota. */
  countQuota(quota: keyof StartQuotas): void;
  /** All metrics, with current values and what others have counted. */
  text(gauges: readonly Gauge[], more: readonly string[]): string;
}

const COUNTERS = {
  metier_sign_ins_failed_total: "Requests with an unknown, revoked or expired key.",
  metier_runs_started_total: "Runs requested over HTTP or by a schedule.",
  metier_questions_answered_total: "Approvals and questions answered.",
  metier_questions_expired_total: "Approvals and questions that expired.",
  metier_schedules_fired_total: "Scheduled times that started a run.",
  metier_faults_total: "Internal errors of the service.",
} as const;

type ServiceCounter = keyof typeof COUNTERS;

const QUOTAS = {
  startsPerMinute: 0,
  openRuns: 0,
  tokensPerDay: 0,
  costPerDay: 0,
} as const satisfies Record<keyof StartQuotas, 0>;

export function createServiceMetrics(): ServiceMetrics {
  const counts = new Map<ServiceCounter, number>();
  const quotas = new Map<string, number>(Object.entries(QUOTAS));
  const requests = new Map<string, number>();
  const durations = createHistogram(
    "metier_http_request_seconds",
    "Time to the first byte of a response.",
    BUCKETS,
  );
  return {
    countRequest(method, route, status, seconds) {
      const labels = `method="${method}",route="${route}"`;
      const withStatus = `${labels},status="${status}"`;
      requests.set(withStatus, (requests.get(withStatus) ?? 0) + 1);
      durations.add(labels, seconds);
    },
    count(counter) {
      counts.set(counter, (counts.get(counter) ?? 0) + 1);
    },
    countQuota(quota) {
      quotas.set(quota, (quotas.get(quota) ?? 0) + 1);
    },
    text(gauges, more) {
      const names = Object.entries(COUNTERS) as readonly (readonly [ServiceCounter, string])[];
      const lines = [
        ...names.flatMap(([name, about]) =>
          metricLines({ name, about, type: "counter", values: [["", counts.get(name) ?? 0]] }),
        ),
        ...metricLines({
          name: "metier_quota_refusals_total",
          about: "Runs not started because a quota was used up.",
          type: "counter",
          values: [...quotas].map(([quota, count]) => [`quota="${quota}"`, count] as const),
        }),
        ...metricLines({
          name: "metier_http_requests_total",
          about: "Requests by route and status.",
          type: "counter",
          values: requests,
        }),
        ...durations.lines(),
        ...gauges.flatMap(({ name, about, values }) =>
          metricLines({ name, about, type: "gauge", values: Object.entries(values) }),
        ),
        ...more,
      ];
      return `${lines.join("\n")}\n`;
    },
  };
}
