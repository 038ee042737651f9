/** Counters and sums of the service as Prometheus text. Labels are fixed words: no path, name or id of anybody is one. */

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
  /** All of it, with what is only known now. */
  text(gauges: readonly Gauge[]): string;
}

const COUNTERS = {
  metier_sign_ins_failed_total: "Requests with an unknown, revoked or expired key.",
  metier_runs_started_total: "Runs that were asked for over HTTP or by a schedule.",
  metier_questions_answered_total: "Approvals and questions that were answered.",
  metier_questions_expired_total: "Approvals and questions whose time ran out.",
  metier_schedules_fired_total: "Due times of schedules that started a run.",
  metier_faults_total: "Faults of the service itself.",
} as const;

type ServiceCounter = keyof typeof COUNTERS;

interface Duration {
  readonly buckets: number[];
  sum: number;
  count: number;
}

export function createServiceMetrics(): ServiceMetrics {
  const counts = new Map<ServiceCounter, number>();
  const requests = new Map<string, number>();
  const durations = new Map<string, Duration>();
  return {
    countRequest(method, route, status, seconds) {
      const labels = `method="${method}",route="${route}"`;
      const withStatus = `${labels},status="${status}"`;
      requests.set(withStatus, (requests.get(withStatus) ?? 0) + 1);
      const duration = durations.get(labels) ?? { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 };
      for (const [index, bound] of BUCKETS.entries()) {
        if (seconds <= bound) duration.buckets[index] = (duration.buckets[index] ?? 0) + 1;
      }
      duration.sum += seconds;
      duration.count += 1;
      durations.set(labels, duration);
    },
    count(counter) {
      counts.set(counter, (counts.get(counter) ?? 0) + 1);
    },
    text(gauges) {
      const lines = Object.entries(COUNTERS).flatMap(([name, about]) => [
        ...head(name, about, "counter"),
        `${name} ${counts.get(name as ServiceCounter) ?? 0}`,
      ]);
      lines.push(...head("metier_http_requests_total", "Requests by route and status.", "counter"));
      for (const [labels, count] of requests) lines.push(`metier_http_requests_total{${labels}} ${count}`);
      lines.push(...head("metier_http_request_seconds", "Time until an answer began.", "histogram"));
      for (const [labels, duration] of durations) lines.push(...histogram(labels, duration));
      for (const { name, about, values } of gauges) {
        lines.push(...head(name, about, "gauge"));
        for (const [labels, value] of Object.entries(values)) {
          lines.push(`${name}${labels === "" ? "" : `{${labels}}`} ${value}`);
        }
      }
      return `${lines.join("\n")}\n`;
    },
  };
}

function head(name: string, about: string, type: string): readonly string[] {
  return [`# HELP ${name} ${about}`, `# TYPE ${name} ${type}`];
}

function histogram(labels: string, { buckets, sum, count }: Duration): readonly string[] {
  const name = "metier_http_request_seconds";
  return [
    ...BUCKETS.map((bound, index) => `${name}_bucket{${labels},le="${bound}"} ${buckets[index] ?? 0}`),
    `${name}_bucket{${labels},le="+Inf"} ${count}`,
    `${name}_sum{${labels}} ${sum}`,
    `${name}_count{${labels}} ${count}`,
  ];
}
