/** One or two words about a state. The word says it; the color only helps. */
import type { ComponentChildren } from "preact";

export type Tone = "plain" | "good" | "warn" | "bad" | "accent";

interface BadgeProps {
  readonly children: ComponentChildren;
  readonly tone?: Tone;
  readonly title?: string | undefined;
}

export function Badge({ children, tone = "plain", title }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  enabled: "good",
  completed: "good",
  approved: "good",
  trusted: "good",
  passed: "good",
  loads: "good",
  active: "good",
  running: "accent",
  queued: "plain",
  waiting: "warn",
  pending: "warn",
  limited: "warn",
  unavailable: "warn",
  untrusted: "warn",
  expired: "warn",
  deleting: "warn",
  warning: "warn",
  medium: "warn",
  "loads with notes": "warn",
  failed: "bad",
  refused: "bad",
  denied: "bad",
  invalid: "bad",
  error: "bad",
  high: "bad",
  critical: "bad",
  "does not load": "bad",
};

/** The status of a run, a skill, an approval or a finding, in its color. */
export function StatusBadge({
  status,
  title,
}: {
  readonly status: string;
  readonly title?: string | undefined;
}) {
  return (
    <Badge tone={TONES[status] ?? "plain"} title={title}>
      {status}
    </Badge>
  );
}
