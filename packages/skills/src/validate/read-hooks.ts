/**
 * The hooks a skill declares, in Metier's form or Claude Code's. Unreadable hooks are reported; before a tool call such
 * a hook still counts, as one that cannot be asked, since a skipped guard protects nothing.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { nearestNames, showNames, showValue, toKebabCase } from "@metier/base/text";
import type { SkillManifest } from "../skill/manifest.ts";
import { jsonKind } from "./coerce.ts";
import type { Report } from "./profiles.ts";

const HOOK_EVENTS = ["pre-tool", "post-tool", "stop"] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Words are executed directly; text goes to `sh`, without any part of a call in it. */
export type HookCommand = readonly string[] | string;

export type SkillHook = {
  readonly event: HookEvent;
  /** Names and globs of tools; none: every call. */
  readonly tools: readonly string[];
  readonly timeoutMs: number;
  /** In Claude Code's form, so it reads Claude Code's names from its input. */
  readonly isClaude: boolean;
} & ({ readonly command: HookCommand } | { readonly fault: string });

const DEFAULT_SECONDS = 30;
const MOST_SECONDS = 600;

const EVENTS: ReadonlyMap<string, HookEvent> = new Map([
  ["pre-tool", "pre-tool"],
  ["pre-tool-use", "pre-tool"],
  ["post-tool", "post-tool"],
  ["post-tool-use", "post-tool"],
  ["stop", "stop"],
]);
const CLAUDE_NAMES: ReadonlySet<string> = new Set(["PreToolUse", "PostToolUse", "Stop"]);
/** Claude Code events without an equivalent here. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  `PostToolUseFailure PermissionRequest PermissionDenied Notification UserPromptSubmit SessionStart SessionEnd
  SubagentStart SubagentStop PreCompact PostCompact Setup ConfigChange TaskCompleted TeammateIdle StopFailure
  WorktreeCreate WorktreeRemove`.split(/\s+/),
);

const ENTRY_KEYS = ["matcher", "command", "timeout", "type", "hooks"];
const FORM =
  "Write a list of `{ matcher, command, timeout }`, with the command as a list of words or as a line for `sh`.";

/** A place in the field, and how to report problems there. */
interface Place {
  readonly event: HookEvent;
  readonly key: string;
  readonly isClaude: boolean;
  readonly report: Report;
}

export function readHooks(
  written: NonNullable<SkillManifest["hooks"]>,
  report: Report,
): readonly SkillHook[] {
  return Object.entries(written).flatMap(([name, value]) => {
    const event = EVENTS.get(toKebabCase(name));
    const key = `hooks.${name}`;
    if (event === undefined) {
      reportEvent(name, key, report);
      return [];
    }
    const place = { event, key, report, isClaude: CLAUDE_NAMES.has(name) };
    return toList(value).flatMap((entry) => readEntry(entry, place));
  });
}

/** One entry is as good as a list of one. */
function toList(value: Json): readonly Json[] {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value as Json];
}

function readEntry(entry: Json, place: Place): readonly SkillHook[] {
  if (typeof entry === "string") return readEntry({ command: entry }, place);
  if (!isJsonObject(entry)) return breakOff(`is a ${jsonKind(entry)}`, [], place);
  reportUnknownKeys(entry, place);
  const tools = readMatcher(entry.matcher ?? null, place);
  if (entry.hooks === undefined) return readCommand(entry, tools, place);
  const nested = toList(entry.hooks);
  return nested.flatMap((inner) => {
    if (!isJsonObject(inner)) return breakOff(`has a ${jsonKind(inner)} in \`hooks\``, tools, place);
    reportUnknownKeys(inner, place);
    return readCommand(inner, tools, { ...place, isClaude: true });
  });
}

function readCommand(entry: JsonObject, tools: readonly string[], place: Place): readonly SkillHook[] {
  const { type = "command", command } = entry;
  if (type !== "command")
    return breakOff(`has the type ${showValue(type)}; only \`command\` is supported`, tools, place);
  const wrong = whyNoCommand(command);
  if (wrong !== undefined) return breakOff(wrong, tools, place);
  const { event, isClaude } = place;
  const timeoutMs = readTimeout(entry.timeout ?? null, place);
  return [{ event, tools, timeoutMs, isClaude, command: command as HookCommand }];
}

function whyNoCommand(command: Json | undefined): string | undefined {
  if (command === undefined || command === null) return "has no `command`";
  const words = typeof command === "string" ? [command] : command;
  if (!(Array.isArray(words) && words.every((word) => typeof word === "string"))) {
    return `has the \`command\` ${showValue(command)}`;
  }
  if ((words[0] ?? "").trim() === "") return "has an empty `command`";
  if (words.some((word) => word.includes("\0"))) return "has a `command` with a NUL character";
  const [program = ""] = words;
  const isOutside = Array.isArray(command) && !program.startsWith("/") && program.split("/").includes("..");
  return isOutside ? `has the program ${showValue(program)}, which is not in the skill's folder` : undefined;
}

function readTimeout(written: Json, { key, report }: Place): number {
  if (written === null) return DEFAULT_SECONDS * 1000;
  if (typeof written === "number" && written > 0 && written <= MOST_SECONDS) return Math.ceil(written * 1000);
  const message = `A hook of \`${key}\` has the \`timeout\` ${showValue(written)}; ${DEFAULT_SECONDS} seconds are used.`;
  report("hook.malformed", message, {
    key,
    hint: `Write seconds: above 0, at most ${MOST_SECONDS}.`,
  });
  return DEFAULT_SECONDS * 1000;
}

/** `Write|Edit`, `mcp__files__.*` and `*` as in Claude Code, or a list. An unreadable one applies to every call. */
function readMatcher(written: Json, { event, key, report }: Place): readonly string[] {
  if (written === null || written === "" || written === "*") return [];
  if (event === "stop") {
    const message = `A hook of \`${key}\` has a \`matcher\`, but there is no tool to match.`;
    report("hook.malformed", message, { key, hint: "Remove it." });
    return [];
  }
  const texts = toList(written).filter((item) => typeof item === "string");
  const names = texts.flatMap((text) => text.split("|")).map((name) => name.trim().replaceAll(".*", "*"));
  if (
    texts.length === toList(written).length &&
    names.every((name) => /^[\p{L}_*][\p{L}\p{N}_.:*-]*$/u.test(name))
  )
    return names;
  const message = `A hook of \`${key}\` has the \`matcher\` ${showValue(written)}; it applies to every tool.`;
  const hint = "Write a tool's name or a glob, or several with `|` between them.";
  report("hook.malformed", message, { key, hint });
  return [];
}

function breakOff(what: string, tools: readonly string[], place: Place): readonly SkillHook[] {
  const { event, key, isClaude, report } = place;
  const isGuard = event === "pre-tool";
  const effect = isGuard ? "every call it covers is blocked" : "it is ignored";
  report("hook.malformed", `A hook of \`${key}\` ${what}: ${effect}.`, { key, hint: FORM });
  const fault = `the hook cannot be read: it ${what}`;
  return isGuard ? [{ event, tools, timeoutMs: DEFAULT_SECONDS * 1000, isClaude, fault }] : [];
}

function reportUnknownKeys(entry: JsonObject, { key, report }: Place): void {
  const unknown = Object.keys(entry).filter((name) => !ENTRY_KEYS.includes(name));
  if (unknown.length === 0) return;
  report("field.unknown-key", `A hook of \`${key}\` has ${showNames(unknown)}, which has no effect.`, {
    key,
    hint: `It may have ${showNames(ENTRY_KEYS.slice(0, 3))}.`,
  });
}

function reportEvent(name: string, key: string, report: Report): void {
  const near = nearestNames(toKebabCase(name), EVENTS.keys(), 1);
  const [message, hint] = ELSEWHERE.has(name)
    ? [
        `\`${key}\` is a Claude Code event that Metier does not support.`,
        "Check that the skill works without it; you can keep it for other clients.",
      ]
    : [
        `\`hooks\` has the unknown event ${showValue(name)}, which is ignored.`,
        near.length > 0 ? `Did you mean ${showNames(near)}?` : `The events are ${showNames(HOOK_EVENTS)}.`,
      ];
  report("hook.unknown-event", message, { key, hint });
}
