/**
 * Agents that skills written for Claude Code name without bringing them. An agent of the same name, from a file or the
 * embedding program, stands before these.
 */
import type { Agent } from "./agent.ts";

const COMMON = {
  disallowedTools: [],
  skills: [],
  scope: "bundled",
  location: "",
  trust: { level: "trusted", reason: "It is part of Metier." },
} as const;

const READING = ["read_file", "list_files", "grep_search", "read_skill_file"] as const;

const BUILT_IN: readonly Agent[] = [
  {
    ...COMMON,
    name: "general-purpose",
    description: "Does whatever the skill says.",
    systemPrompt: "",
  },
  {
    ...COMMON,
    name: "explore",
    description: "Looks things up and changes nothing.",
    systemPrompt:
      "You look things up in files and report what you found, with paths and lines. You change nothing.",
    tools: READING,
  },
  {
    ...COMMON,
    name: "plan",
    description: "Reads, thinks and writes a plan.",
    systemPrompt:
      "You read what there is and answer with a plan: steps in order, with reasons. You change nothing.",
    tools: READING,
  },
];

export function builtInAgent(name: string): Agent | undefined {
  return BUILT_IN.find((agent) => agent.name === name);
}
