/** Plots as inline SVG: bars with their spread for up to two sides. A table beside them holds the same numbers. */
import { html, type Markup } from "./html.ts";

export interface Bar {
  readonly label: string;
  /** One for each side. */
  readonly values: readonly BarValue[];
}

export interface BarValue {
  readonly mean: number;
  readonly stddev?: number;
}

export interface BarChart {
  readonly title: string;
  /** The names of the sides. */
  readonly sides: readonly string[];
  readonly bars: readonly Bar[];
  /** The end of the axis; default: the largest value. */
  readonly most?: number;
  show(value: number): string;
}

const [WIDTH, LABEL, NUMBER, ROW, GAP] = [760, 230, 110, 16, 12] as const;
const LENGTH = WIDTH - LABEL - NUMBER;
const CLASSES = ["first", "second"] as const;

export function renderBars({ title, sides, bars, most, show }: BarChart): Markup {
  const values = bars.flatMap((bar) => bar.values.map(({ mean, stddev = 0 }) => mean + stddev));
  const end = most ?? Math.max(...values, Number.EPSILON);
  const scale = (value: number): number => (Math.min(Math.max(value, 0), end) / end) * LENGTH;
  let top = 28;
  const rows = bars.map(({ label, values: own }) => {
    const start = top;
    top += own.length * ROW + GAP;
    const lines = own.map((value, index) => renderBar(value, start + index * ROW, index, scale, show));
    const middle = start + (own.length * ROW) / 2 + 4;
    return html`<text x="${LABEL - 10}" y="${middle}" text-anchor="end">${cut(label)}</text>${lines}`;
  });
  const legend = sides.map(
    (side, index) =>
      html`<rect class="${CLASSES[index] ?? "first"}" x="${LABEL + index * 170}" y="4" width="12" height="12"/>
<text x="${LABEL + index * 170 + 18}" y="14">${side}</text>`,
  );
  const said = bars
    .map(({ label, values: own }) => `${label}: ${own.map(({ mean }) => show(mean)).join(" and ")}`)
    .join("; ");
  return html`<figure>
<svg viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img" aria-label="${`${title}. ${said}`}">
${legend}
<line class="axis" x1="${LABEL}" y1="22" x2="${LABEL}" y2="${top - GAP / 2}"/>
${rows}
</svg>
<figcaption>${title}</figcaption>
</figure>`;
}

function renderBar(
  { mean, stddev = 0 }: BarValue,
  y: number,
  index: number,
  scale: (value: number) => number,
  show: BarChart["show"],
): Markup {
  const length = scale(mean);
  const [from, to, middle] = [scale(mean - stddev), scale(mean + stddev), y + ROW / 2 - 1];
  const spread =
    stddev > 0
      ? html`<line class="spread" x1="${place(from)}" y1="${middle}" x2="${place(to)}" y2="${middle}"/>`
      : undefined;
  return html`<rect class="${CLASSES[index] ?? "first"}" x="${LABEL}" y="${y}" width="${round(length)}" height="${ROW - 3}"/>
${spread}<text class="soft" x="${place(Math.max(length, to) + 6)}" y="${y + 11}">${show(mean)}</text>`;
}

function place(x: number): number {
  return round(LABEL + x);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function cut(label: string): string {
  const characters = [...label];
  return characters.length > 32 ? `${characters.slice(0, 31).join("")}…` : label;
}
