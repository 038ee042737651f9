/**
 * A view as one file to send: the whole page with the answers it shows. It asks no server, loads nothing and runs only
 * its own script, no matter what the answers contain.
 */
import { createHash } from "node:crypto";
import type { Json } from "@metier/base/json";
import { readPageFiles } from "./page-files.ts";

export interface ExportedView {
  readonly title: string;
  /** The view it opens, as after `#`: `/run/abc`. */
  readonly address: string;
  /** API answers by path, such as `/v1/runs/abc`. */
  readonly answers: Readonly<Record<string, Json>>;
}

export function exportPage({ title, address, answers }: ExportedView): string {
  const files = readPageFiles();
  const [script, style] = [readText(files, "export/page.js"), readText(files, "export/page.css")];
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeText(title)}</title>
<style>${style}</style>
</head>
<body>
<div id="app" data-address="${escapeText(address)}"></div>
<noscript>This page needs JavaScript; it loads nothing and sends nothing.</noscript>
<script type="application/json" id="metier-answers">${escapeJson(answers)}</script>
<script>${script}</script>
</body>
</html>
`;
}

function readText(files: ReturnType<typeof readPageFiles>, path: string): string {
  const file = files.find((one) => one.path === path);
  if (!file) throw new Error(`\`${path}\` is not in this build of the inspector.`);
  // A script that contains this would end its own element.
  return file.body.toString().replaceAll("</script", "<\\/script");
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Nothing in it can end its element or start a comment. */
function escapeJson(value: Json): string {
  return JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
