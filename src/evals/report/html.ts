/** The frame of a report: one file that works offline, runs nothing, and shows what others wrote as text alone. */
import { cleanText } from "../../disclose/clean-text.ts";
import { escapeXml } from "../../disclose/escape-xml.ts";

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

/** `1 run`, `2 runs`. */
export function count(number: number, noun: string, many = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : many}`;
}

export interface Page {
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
