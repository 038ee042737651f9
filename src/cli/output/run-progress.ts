/** What happens in a run, line by line, for a person who waits: steps, tools, tokens. Nested runs are indented. */
import type { RunEvent } from "../../events/run-event.ts";
import { capabilityCallText } from "./capability-call-text.ts";
import { cutText, type Style, safeLine } from "./style.ts";

const WIDTH = 100;

export function createProgress(write: (line: string) => void, style: Style): (event: RunEvent) => void {
  const depths = new Map<string, number>();
  let tokens = 0;
  return (event) => {
    if (event.type === "run-started") depths.set(event.runId, event.depth);
    if (event.type === "model-answered") tokens += event.usage.totalTokens;
    const line = describe(event, tokens, style);
    if (line !== undefined) write(`${"  ".repeat(depths.get(event.runId) ?? 0)}${line}`);
  };
}

function describe(event: RunEvent, tokens: number, style: Style): string | undefined {
  switch (event.type) {
    case "run-started":
      return `${style.bold(safeLine(event.skill))} ${style.dim(`${safeLine(event.model)}, ${event.trust}`)}`;
    case "tool-called": {
      const mark = event.decision === "deny" ? style.red("✗") : style.cyan("▸");
      const why = event.decision === "deny" ? ` (${safeLine(event.rule)})` : "";
      return `${mark} ${safeLine(event.tool)} ${style.dim(cutText(inputText(event.input), WIDTH))}${why}`;
    }
    case "tool-finished":
      return event.isError ? style.yellow(`  ${cutText(event.text, WIDTH)}`) : undefined;
    case "hook-finished":
      if (event.outcome === "allow") return undefined;
      return style.yellow(`  ${event.hook} hook: ${event.outcome}, ${cutText(event.reason ?? "", WIDTH)}`);
    case "capability-called":
      return `  ${capabilityCallText(event, style)}`;
    case "model-answered":
      return style.dim(`step ${event.step}: ${event.finishReason}, ${tokens} tokens so far`);
    case "model-retried":
      return style.yellow(`asking again in ${event.delayMs} ms: ${cutText(event.reason, WIDTH)}`);
    case "limit-reached":
      return style.yellow(`limit of ${event.limit}: ${safeLine(event.message)}`);
    default:
      return undefined;
  }
}

/** The one thing a person wants to see of a call. */
export function inputText(input: unknown): string {
  if (typeof input !== "object" || input === null) return String(input);
  const { command, path, url, skill } = input as Readonly<Record<string, unknown>>;
  const shown = command ?? url ?? skill ?? path;
  return typeof shown === "string" ? shown : JSON.stringify(input);
}
