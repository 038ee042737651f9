/** What a hook decided, read from how its command ended. Whatever is no clear answer is a fault, never an agreement. */
import { cleanText } from "../../disclose/clean-text.ts";
import type { CommandOutcome } from "../../sandbox/sandbox.ts";
import type { Json } from "../../skill/manifest.ts";
import { isMap, type JsonMap } from "../../validate/json-kinds.ts";
import type { HookEvent } from "../../validate/read-hooks.ts";
import { showValue } from "../../validate/report.ts";

export type HookVerdict =
  /** `note`: what the model is told beside the tool's answer. */
  | { readonly outcome: "allow"; readonly note?: string }
  | { readonly outcome: "block" | "fault"; readonly reason: string };

/** With this exit code a hook blocks, and says why on standard error. */
const BLOCKING_CODE = 2;
const MAX_REASON = 2_000;
const MAX_NOTE = 20_000;
const NO_REASON = "it gave no reason";

/** Of Claude Code's answers, those that would change a call: it is blocked rather than carried out unchanged. */
const UNSUPPORTED = ["updatedInput", "updatedToolOutput", "updatedMCPToolOutput"];

export function readVerdict(event: HookEvent, outcome: CommandOutcome, timeoutMs: number): HookVerdict {
  const fault = whyNoAnswer(outcome, timeoutMs);
  if (fault !== undefined) return failed(fault);
  if (outcome.exitCode === BLOCKING_CODE) return blocked(outcome.stderr);
  const text = outcome.stdout.trim();
  if (text === "") return { outcome: "allow" };
  const answer = parseMap(text);
  return answer ? readAnswer(event, answer) : failed(`its output is no JSON object: ${showValue(text)}`);
}

export function failed(reason: string): HookVerdict {
  return { outcome: "fault", reason: tidy(reason, MAX_REASON) };
}

function blocked(reason: Json | undefined): HookVerdict {
  return { outcome: "block", reason: (typeof reason === "string" && tidy(reason, MAX_REASON)) || NO_REASON };
}

function whyNoAnswer(outcome: CommandOutcome, timeoutMs: number): string | undefined {
  const { ended, exitCode = 0, stderr, droppedBytes, reason } = outcome;
  if (ended === "timeout") return `it did not end within ${timeoutMs / 1000} seconds`;
  if (ended === "cancelled") return "the run was stopped meanwhile";
  if (ended === "refused" || ended === "limit") return reason ?? `it was ${ended}`;
  if (ended === "signalled") return `it was ended by ${outcome.signal ?? "a signal"}`;
  if (droppedBytes > 0) return `it wrote ${droppedBytes} bytes more than are read`;
  if (exitCode === 0 || exitCode === BLOCKING_CODE) return undefined;
  const said = stderr.trim();
  return `it ended with exit code ${exitCode}${said && `: ${said}`}`;
}

function readAnswer(event: HookEvent, answer: JsonMap): HookVerdict {
  const specific = isMap(answer.hookSpecificOutput) ? answer.hookSpecificOutput : {};
  const unsupported = UNSUPPORTED.find((key) => key in answer || key in specific);
  if (unsupported !== undefined) return failed(`it answered with \`${unsupported}\`, which is not supported`);
  // Claude Code ends its session with this: at the end of a run that is an agreement.
  if (answer.continue === false) {
    return event === "stop" ? { outcome: "allow" } : blocked(answer.stopReason ?? answer.reason);
  }
  const decision = specific.permissionDecision ?? answer.decision;
  if (decision === "block" || decision === "deny") {
    return blocked(specific.permissionDecisionReason ?? answer.reason);
  }
  if (decision !== undefined && decision !== "allow" && decision !== "approve") {
    return failed(`it answered with the decision ${showValue(decision)}; there are \`block\` and \`allow\``);
  }
  const note = answer.note ?? answer.additionalContext ?? specific.additionalContext ?? "";
  if (typeof note !== "string") return failed(`its \`note\` is no text: ${showValue(note)}`);
  const tidied = tidy(note, MAX_NOTE);
  return tidied === "" ? { outcome: "allow" } : { outcome: "allow", note: tidied };
}

function parseMap(text: string): JsonMap | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined; // The caller says what it is instead.
  }
}

function tidy(text: string, most: number): string {
  const clean = cleanText(text).text.trim();
  return clean.length > most ? `${clean.slice(0, most)}…` : clean;
}
