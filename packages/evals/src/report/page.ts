/**
 * The frame of a report: one file that works offline, runs nothing, and shows what others wrote as text alone; and its plots
 * as inline SVG.
 */
import { cleanText } from "@metier/base/text";
import { escapeXml } from "@metier/skills";

/** Markup that is safe to put into a page; made by `html` alone. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Markup[] | undefined;

/** A template whose values are escaped, unless they are markup themselves. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const pieces = texts.map((text, index) => text + render(parts[index]));
  return { markup: pieces.join("") };
}

function render(part: Part): string {
  if (part === undefined) return "";
  if (typeof part === "string" || typeof part === "number") return escapeXml(cleanText(String(part)).text);
  return [part]
    .flat()
    .map(({ markup }) => markup)
    .join("\n");
}

/** To a file beside the page. */
export function fileLink(path: string, text: string): Markup {
  const address = path.split("/").map(encodeURIComponent).join("/");
  return html`<a href="./${address}">${text}</a>`;
}

/** `1 run`, `2 runs`. */
export function countOf(number: number, noun: string, many = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : many}`;
}

interface Page {
  readonly title: string;
  readonly lead: string;
  readonly sections: readonly Markup[];
}

/** No script may run and nothing may be loaded, whatever stands in the page. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function renderPage({ title, lead, sections }: Page): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
<header><h1>${title}</h1><p>${lead}</p></header>
<main id="main" tabindex="-1">
${sections}
</main>
</body>
</html>
`;
  return page.markup;
}

const STYLE = `
:root { --ink: #1a1d21; --soft: #5b6470; --line: #d6dbe1; --paper: #fff; --card: #f5f7f9;
  --first: #1f6feb; --second: #a35b00; --good: #11713c; --bad: #b3261e; --warm: 179 38 30; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa4b0; --line: #363d46; --paper: #14171a;
  --card: #1d2126; --first: #6ea8ff; --second: #f0a85a; --good: #5fd38d; --bad: #ff8a80; --warm: 255 138 128; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
header p, .soft, figcaption { color: var(--soft); }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem; }
:focus-visible { outline: 3px solid var(--first); outline-offset: 2px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; color: var(--soft); padding: .3rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.cell { text-align: center; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; display: block; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .soft { fill: var(--soft); }
svg .axis { stroke: var(--line); } svg .first { fill: var(--first); } svg .second { fill: var(--second); }
svg .spread { stroke: var(--ink); stroke-width: 1.5; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .6rem 0; padding: 0 .8rem; }
summary { cursor: pointer; padding: .6rem 0; font-weight: 600; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card); padding: .7rem; border-radius: .3rem; }
td { overflow-wrap: anywhere; }
`;

interface BarValue {
  readonly mean: number;
  readonly stddev?: number;
}

interface BarChart {
  readonly title: string;
  /** The names of the sides. */
  readonly sides: readonly string[];
  /** With one value for each side. */
  readonly bars: readonly { readonly label: string; readonly values: readonly BarValue[] }[];
  /** The end of the axis; default: the largest value. */
  readonly most?: number;
  show(value: number): string;
}

const [WIDTH, LABEL, NUMBER, ROW, GAP, LINE] = [760, 230, 110, 16, 12, 14] as const;
const LENGTH = WIDTH - LABEL - NUMBER;
const CLASSES = ["first", "second"] as const;

export function renderBars({ title, sides, bars, most, show }: BarChart): Markup {
  const values = bars.flatMap((bar) => bar.values.map(({ mean, stddev = 0 }) => mean + stddev));
  const end = most ?? Math.max(...values, Number.EPSILON);
  const scale = (value: number): number => (Math.min(Math.max(value, 0), end) / end) * LENGTH;
  let top = 28;
  const rows = bars.map(({ label, values: own }) => {
    const start = top;
    const words = wrapLabel(label);
    const height = Math.max(own.length * ROW, words.length * LINE);
    top += height + GAP;
    const bars = own.map((value, index) => renderBar(value, start + index * ROW, index, scale, show));
    const first = start + (height - words.length * LINE) / 2 + 11;
    const lines = words.map(
      (line, index) => html`<tspan x="${LABEL - 10}" y="${round(first + index * LINE)}">${line}</tspan>`,
    );
    return html`<text text-anchor="end">${lines}</text>${bars}`;
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

const LONGEST_LINE = 32;

/** The whole label, over as many lines as it needs. */
function wrapLabel(label: string): readonly string[] {
  const lines: string[] = [""];
  for (const word of label.split(/\s+/)) {
    const last = lines.at(-1) ?? "";
    if (last === "" || [...last, ...word].length < LONGEST_LINE)
      lines[lines.length - 1] = `${last} ${word}`.trim();
    else lines.push(word);
  }
  return lines.flatMap((line) => line.match(/.{1,32}/gu) ?? []);
}
