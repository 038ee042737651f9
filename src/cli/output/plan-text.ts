/** `--dry-run`: what a run would be. Names of variables only, never their values. */
import type { RunOutline } from "../../run/run-outline.ts";
import { reachText } from "./reach-text.ts";
import { type Style, safeLine, safeText } from "./style.ts";

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
    ["sandbox", sandbox.backend === "absent" ? "none works here: no command can be run" : sandbox.backend],
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

function describeHook({ hook, tools, command = "cannot be read" }: RunOutline["hooks"][number]): string {
  const about = tools.length > 0 ? ` on ${tools.join(", ")}` : "";
  return `${hook}${about}: ${typeof command === "string" ? command : command.join(" ")}`;
}

function describeLimits({ maxIterations, timeoutMs, maxTokens, maxCost }: RunOutline["limits"]): string {
  const parts = [`${maxIterations} steps`, `${timeoutMs / 1000} s`];
  if (maxTokens !== undefined) parts.push(`${maxTokens} tokens`);
  if (maxCost !== undefined) parts.push(`cost ${maxCost}`);
  return parts.join(", ");
}
