/** Which keys each client acts on or shows, spelled as it reads them. Whatever else is written, it passes over or refuses. */
import { spellingsOf } from "../../foundation/spelling.ts";
import type { CompatClientId, ForEachClient } from "./compat-clients.ts";
import { breaks, type CompatSubject, type Remark } from "./compat-subject.ts";

const SPECIFICATION: readonly string[] = [
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
];

/** Claude Code takes these in all three spellings. */
const CLAUDE_LISTING: readonly string[] = [
  ...["display-name", "default-enabled"].flatMap(spellingsOf),
  "fallback",
];

const HONOURED: ForEachClient<readonly string[]> = {
  agentskills: SPECIFICATION,
  "claude-ai": SPECIFICATION,
  "claude-code": [
    ...SPECIFICATION,
    ...CLAUDE_LISTING,
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "disallowed-tools",
    "model",
    "effort",
    "context",
    "agent",
    "background",
    "hooks",
    "paths",
    "shell",
  ],
  codex: ["name", "description", "metadata"],
  opencode: ["name", "description"],
  "gemini-cli": ["name", "description"],
  "qwen-code": [
    "name",
    "description",
    "allowedTools",
    "when_to_use",
    "argument-hint",
    "disable-model-invocation",
    "user-invocable",
    "model",
    "paths",
    "hooks",
    "priority",
  ],
  cursor: ["name", "description", "license", "compatibility", "metadata", "disable-model-invocation"],
  copilot: ["name", "description", "argument-hint", "user-invocable", "disable-model-invocation"],
  goose: ["name", "description"],
  amp: ["name", "description"],
  letta: ["id", "name", "title", "description", "category", "tags"],
  pi: ["name", "description", "disable-model-invocation"],
  ash: [
    "name",
    "description",
    "authors",
    "rationale",
    "opt_in",
    "sensitive",
    "access",
    "triggers",
    "model",
    "preferred_model",
    "max_iterations",
    "allowed_tools",
    "required_tools",
    "input_schema",
    "env",
    "packages",
    "capabilities",
  ],
  "agent-harness": SPECIFICATION,
  mamba: [
    ...SPECIFICATION,
    "model",
    "context",
    "agent",
    "argument-hint",
    "disable-model-invocation",
    "user-invocable",
    "hooks",
  ],
  weakincentives: SPECIFICATION,
};

/** They take nothing that they do not know; the others pass over it. */
const REFUSES_UNKNOWN: ReadonlySet<CompatClientId> = new Set([
  "agentskills",
  "claude-ai",
  "ash",
  "agent-harness",
]);

export function isHonoured(client: CompatClientId, key: string): boolean {
  return HONOURED[client].includes(key);
}

export function checkFields({ fields }: CompatSubject, client: CompatClientId): readonly Remark[] {
  if (!REFUSES_UNKNOWN.has(client)) return [];
  return Object.keys(fields)
    .filter((key) => !isHonoured(client, key))
    .map((key) => breaks(key, "The key is not known there, and a file with unknown keys is refused."));
}
