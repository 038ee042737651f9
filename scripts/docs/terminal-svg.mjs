/**
 * Draws a terminal session as an SVG that plays once: commands are typed, their output appears line by line, and the end
 * stays. It needs no script and no font of its own, so it works in an `img`, on the site and in the repository.
 */

/** @typedef {{ command: string, output: string }} Turn `output` as a terminal got it, with color codes */
/** @typedef {{ text: string, style: string }} Span */

const CELL = { width: 8.4, height: 20 };
const PADDING = 18;
const BAR = 34;
const TYPING_SECONDS = 0.045;
const LINE_SECONDS = 0.07;
const PAUSE_SECONDS = 0.6;

/** Color codes that the command line uses, as classes of the picture. @type {Readonly<Record<string, string>>} */
const STYLES = {
  1: "bold",
  2: "dim",
  31: "red",
  32: "green",
  33: "yellow",
  34: "blue",
  36: "cyan",
  90: "dim",
};

const LOOK = `
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e8eaed; white-space: pre; }
.title { fill: #a3acb8; font-size: 12px; }
.prompt { fill: #7ab7ff; } .bold { font-weight: 700; } .dim { fill: #a3acb8; } .red { fill: #ff938a; }
.green { fill: #63d296; } .yellow { fill: #f2b85c; } .blue { fill: #7ab7ff; } .cyan { fill: #5ed0d0; }
.later { opacity: 0; animation: show 0.01s forwards; }
.cover { fill: #131619; animation: type linear forwards; }
@keyframes show { to { opacity: 1; } }
@keyframes type { to { transform: scaleX(0); } }
@media (prefers-reduced-motion: reduce) { .later { opacity: 1; animation: none; } .cover { display: none; } }
`.trim();

/** @param {string} title @param {readonly Turn[]} turns @param {number} columns @returns {string} */
export function drawTerminal(title, turns, columns) {
  const width = Math.ceil(columns * CELL.width + 2 * PADDING);
  const parts = [];
  let [row, clock] = [0, PAUSE_SECONDS];
  for (const { command, output } of turns) {
    parts.push(drawCommand(command, row, clock, width));
    clock += command.length * TYPING_SECONDS + PAUSE_SECONDS;
    row += 1;
    for (const spans of readLines(output).flatMap((line) => wrap(line, columns))) {
      parts.push(drawLine(spans, row, clock));
      clock += LINE_SECONDS;
      row += 1;
    }
    clock += PAUSE_SECONDS;
  }
  const height = BAR + row * CELL.height + 2 * PADDING;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${LOOK}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#131619"/>`,
    `<path d="M0 ${BAR}h${width}" stroke="#323941"/>`,
    `<text class="title" x="${PADDING}" y="22">${escapeXml(title)}</text>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** @param {string} command @param {number} row @param {number} clock @param {number} width */
function drawCommand(command, row, clock, width) {
  const line = drawLine(
    [
      { text: "$ ", style: "prompt" },
      { text: command, style: "bold" },
    ],
    row,
    clock,
  );
  const length = command.length * CELL.width + 4;
  const x = width - PADDING;
  // The cover shrinks toward its right end, one character at a time.
  const start = PADDING + 2 * CELL.width;
  const place = `x="${round(start)}" y="${top(row) + 2}" width="${round(Math.min(length, x - start))}" height="${CELL.height}"`;
  const motion = [
    `transform-origin:${round(start + length)}px 0`,
    `animation-duration:${round(command.length * TYPING_SECONDS)}s`,
    `animation-delay:${round(clock)}s`,
    `animation-timing-function:steps(${command.length})`,
  ];
  return `${line}\n<rect class="cover" ${place} style="${motion.join(";")}"/>`;
}

/** @param {readonly Span[]} spans @param {number} row @param {number} clock */
function drawLine(spans, row, clock) {
  let column = 0;
  const drawn = spans.map(({ text, style }) => {
    const x = round(PADDING + column * CELL.width);
    column += [...text].length;
    return `<tspan x="${x}"${style === "" ? "" : ` class="${style}"`}>${escapeXml(text)}</tspan>`;
  });
  return `<text class="later" y="${top(row) + 15}" style="animation-delay:${round(clock)}s">${drawn.join("")}</text>`;
}

/** What stays on the screen, without lines that were overwritten. @param {string} output @returns {readonly (readonly Span[])[]} */
function readLines(output) {
  const lines = output.replaceAll("\r\n", "\n").replace(/\s+$/, "").split("\n");
  return lines.map((line) => readSpans(line.slice(line.lastIndexOf("\r") + 1)));
}

/** @param {string} line @returns {readonly Span[]} */
function readSpans(line) {
  /** @type {Span[]} */
  const spans = [];
  let style = "";
  for (const [, codes, text] of line.matchAll(/\u001b\[([?\d;]*[A-Za-z])|([^\u001b]+)/g)) {
    if (text !== undefined) spans.push({ text, style });
    else if (codes?.endsWith("m")) style = STYLES[codes.slice(0, -1)] ?? "";
  }
  return spans;
}

/** Like a terminal, continues a line that is too long in the next row. @param {readonly Span[]} spans @param {number} columns */
function wrap(spans, columns) {
  const cells = spans.flatMap(({ text, style }) => [...text].map((character) => ({ character, style })));
  const rows = [];
  do {
    /** @type {Span[]} */
    const row = [];
    for (const { character, style } of cells.splice(0, columns)) {
      const last = row.at(-1);
      if (last?.style === style) last.text += character;
      else row.push({ text: character, style });
    }
    rows.push(row);
  } while (cells.length > 0);
  return rows;
}

/** @param {number} row */
function top(row) {
  return BAR + PADDING + row * CELL.height;
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}

/** @param {string} text */
function escapeXml(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
