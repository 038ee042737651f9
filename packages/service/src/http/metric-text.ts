/** Metrics in Prometheus format: headers, histograms, and values by label. Labels are fixed words. */

interface Histogram {
  /** `labels` as Prometheus writes them, `kind="model"`. */
  add(labels: string, seconds: number): void;
  lines(): readonly string[];
}

interface Duration {
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** `bounds`: upper ones, in seconds. */
export function createHistogram(name: string, about: string, bounds: readonly number[]): Histogram {
  const durations = new Map<string, Duration>();
  return {
    add(labels, seconds) {
      const duration = durations.get(labels) ?? { buckets: bounds.map(() => 0), sum: 0, count: 0 };
      for (const [index, bound] of bounds.entries()) {
        if (seconds <= bound) duration.buckets[index] = (duration.buckets[index] ?? 0) + 1;
      }
      duration.sum += seconds;
      duration.count += 1;
      durations.set(labels, duration);
    },
    lines: () => [
      ...headLines(name, about, "histogram"),
      ...[...durations].flatMap(([labels, { buckets, sum, count }]) => [
        ...bounds.map((bound, index) => `${name}_bucket{${labels},le="${bound}"} ${buckets[index] ?? 0}`),
        `${name}_bucket{${labels},le="+Inf"} ${count}`,
        `${name}_sum{${labels}} ${sum}`,
        `${name}_count{${labels}} ${count}`,
      ]),
    ],
  };
}

interface Metric {
  readonly name: string;
  readonly about: string;
  readonly type: "counter" | "gauge";
  /** By labels as Prometheus writes them, `state="queued"`; `""` without. */
  readonly values: Iterable<readonly [labels: string, value: number]>;
}

export function metricLines({ name, about, type, values }: Metric): readonly string[] {
  return [
    ...headLines(name, about, type),
    ...[...values].map(([labels, value]) => `${name}${labels === "" ? "" : `{${labels}}`} ${value}`),
  ];
}

function headLines(name: string, about: string, type: string): readonly string[] {
  return [`# HELP ${name} ${about}`, `# TYPE ${name} ${type}`];
}
