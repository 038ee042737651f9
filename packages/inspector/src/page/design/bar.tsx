/** How much of something is used. The numbers are next to it; the bar only helps. */
import type { Tone } from "./badge.tsx";

interface BarProps {
  /** 0 to 1; more is drawn as 1. */
  readonly share: number;
  readonly tone?: Tone;
}

export function Bar({ share, tone = "accent" }: BarProps) {
  const width = `${Math.min(1, Math.max(0, share)) * 100}%`;
  return (
    <span class="bar-track" aria-hidden="true">
      <span class={`bar-part ${tone}`} style={{ width }} />
    </span>
  );
}
