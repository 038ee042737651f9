/**
 * A run before it starts (`--dry-run`) and while it happens: steps, tools and tokens, line by line. Nested runs are
 * indented.
 */
import { safeLine, safeText, showCost } from "@metier/base/text";
import type { RunOutline, SandboxUse } from "@metier/run";
import type { CapabilityCall, RunEvent } from "@metier/run/events";
import { cutText, type Style } from "./style.ts";

const WIDTH = 100;

export function createProgress(write: (line: string) => void, style: Style): (event: RunEvent) => void {
  const depths = new Map<string, number>();
  let used = "";
  let tokens = 0;
  let cost: number | undefined;
  return (event) => {
    if (event.type === "run-started") depths.set(event.runId, event.depth);
    if (event.type === "model-answered") {
      tokens += event.usage.totalTokens;
      if (event.cost !== undefined) cost = (cost ?? 0) + event.cost;
      used = `${tokens} tokens${cost === undefined ? "" : `, ${showCost(cost)}`} so far`;
    }
    const line = describe(event, used, style);
    if (line !== undefined) write(`${"  ".repeat(depths.get(event.runId) ?? 0)}${line}`);
  };
}

function describe(event: RunEvent, used: string, style: Style): string | undefined {
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
      return style.dim(`step ${event.step}: ${event.finishReason}, ${used}`);
    case "model-retried":
      return style.yellow(`retrying in ${event.delayMs / 1000} s: ${cutText(event.reason, WIDTH)}`);
    case "limit-reached":
      return style.yellow(`stopped: ${safeLine(event.message)}`);
    default:
      return undefined;
  }
}

/** The one input of a call that a person wants to see. */
export function inputText(input: unknown): string {
  if (typeof input !== "object" || input === null) return String(input);
  const { command, path, url, skill } = input as Readonly<Record<string, unknown>>;
  const shown = command ?? url ?? skill ?? path;
  return typeof shown === "string" ? shown : JSON.stringify(input);
}

export function planText(outline: RunOutline, style: Style): string {
  const { sandbox, limits } = outline;
  const { world } = sandbox;
  const rows: readonly (readonly [string, string])[] = [
    ["skill", `${outline.skill}  ${outline.location}`],
    ["trust", `${outline.trust}: ${outline.trustReason}`],
    ["model", outline.model],
    ["tools", outline.tools.join(", ") || "none"],
    ...(outline.toolsets.length === 0 ? [] : [["toolsets", outline.toolsets.join(", ")] as const]),
    ...outline.hooks.map((hook) => ["hook", describeHook(hook)] as const),
    ["variables", outline.env.join(", ") || "none"],
    ...(outline.capabilities.length === 0 ? [] : [["by host", outline.capabilities.join(", ")] as const]),
    ["sandbox", sandbox.backend === "absent" ? "none works here, so no command can run" : sandbox.backend],
    ["declared", reachText(sandbox.declared) || "nothing beyond its own folders"],
    ["granted", reachText(sandbox.granted) || "nothing beyond its own folders"],
    ["network", sandbox.network.join(", ") || "none"],
    ["reads", world.readable.join(", ")],
    ["writes", world.writable.join(", ")],
    ["hidden", world.masked.join(", ") || "nothing below these"],
    ["limits", describeLimits(limits)],
  ];
  const table = rows.map(([name, value]) => `${style.dim(name.padEnd(10))} ${safeLine(value)}`);
  return [
    ...table,
    "",
    style.bold("System prompt"),
    safeText(outline.system),
    "",
    style.bold("First message"),
    safeText(outline.message),
  ].join("\n");
}

function describeHook({ hook, tools, command = "can't be read" }: RunOutline["hooks"][number]): string {
  const about = tools.length > 0 ? ` on ${tools.join(", ")}` : "";
  return `${hook}${about}: ${typeof command === "string" ? command : command.join(" ")}`;
}

function describeLimits({ maxIterations, timeoutMs, maxTokens, maxCost }: RunOutline["limits"]): string {
  const parts = [`${maxIterations} steps`, `${timeoutMs / 1000} s`];
  if (maxTokens !== undefined) parts.push(`${maxTokens} tokens`);
  if (maxCost !== undefined) parts.push(`$${maxCost}`);
  return parts.join(", ");
}

/** `desk.mail send as acc_1 (changes something): ok` */
export function capabilityCallText(call: CapabilityCall, style: Style): string {
  const { capability, operation, account, mutating, outcome } = call;
  const as = account === undefined ? "" : ` as ${safeLine(account)}`;
  const change = mutating ? " (changes something)" : "";
  const what = safeLine([capability, operation].join(" ").trim());
  const line = `${what}${as}${change}: ${safeLine(outcome)}`;
  return outcome === "ok" || outcome === "repeat" ? style.dim(line) : style.yellow(line);
}

/** `network example.com; write /data`; empty if there is nothing. */
export function reachText(reach: SandboxUse): string {
  return Object.entries(reach)
    .filter(([, list]) => list.length > 0)
    .map(([kind, list]) => `${kind} ${list.join(", ")}`)
    .join("; ");
}
