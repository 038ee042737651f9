/**
 * The names of the tools, and what other systems call them. Letter case, `-` and `_` do not matter in a name that is
 * ours or known to mean one of ours; a tool that the host brings is matched exactly as it is written. Names with `*`
 * are globs over tool names, `mcp__server` stands for every tool of that server, and `skill:tool` or
 * `skill__tool` for a skill's own.
 */
import { nearestNames } from "../foundation/nearest-names.ts";

export const TOOL_NAMES = [
  "bash",
  "read_file",
  "write_file",
  "edit_file",
  "list_files",
  "grep_search",
  "web_fetch",
  "web_search",
  "use_skill",
  "list_skills",
  "find_skills",
  "read_skill_file",
  "run_script",
  "ask_user",
] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** Other systems' names, lower case and without `-` and `_`. */
const OTHER_NAMES: Readonly<Record<ToolName, string>> = {
  bash: "bash runbash shell runshell runcommand executebash executecommand terminal",
  read_file: "read readfile view viewfile",
  write_file: "write writefile createfile",
  edit_file: "edit editfile multiedit",
  list_files: "listfiles glob ls listdir listdirectory",
  grep_search: "grepsearch grep searchfiles",
  web_fetch: "webfetch",
  web_search: "websearch",
  use_skill: "useskill skill invokeskill activateskill",
  list_skills: "listskills",
  find_skills: "findskills",
  read_skill_file: "readskillfile readresource",
  run_script: "runscript",
  ask_user: "askuser askuserquestion",
};

const OURS: ReadonlyMap<string, ToolName> = new Map(
  TOOL_NAMES.flatMap((name) => OTHER_NAMES[name].split(" ").map((other) => [other, name] as const)),
);

/** Tools of other systems that nothing here does. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  `task agent todoread todowrite notebookread notebookedit bashoutput killbash killshell taskoutput taskstop
  exitplanmode enterplanmode slashcommand lsp`.split(/\s+/),
);

export interface ToolNameReading {
  /** Ours where it means one of ours; else as it was written. */
  readonly name: string;
  /** `owned`: `skill:tool`. `elsewhere`: another system has it, and nothing here does the same. */
  readonly known: "ours" | "host" | "owned" | "pattern" | "elsewhere" | "unknown";
  /** For an unknown one: names it may be a misspelling of. */
  readonly near: readonly string[];
}

/** `hostTools` are further tools that exist, by their exact names; these win over a meaning of ours. */
export function readToolName(written: string, hostTools: readonly string[] = []): ToolNameReading {
  if (hostTools.includes(written)) return { name: written, known: "host", near: [] };
  if (written.includes("*") || written.startsWith("mcp__"))
    return { name: written, known: "pattern", near: [] };
  if (/:|__/.test(written)) return { name: written, known: "owned", near: [] };
  const plain = plainName(written);
  const ours = OURS.get(plain);
  if (ours !== undefined) return { name: ours, known: "ours", near: [] };
  if (ELSEWHERE.has(plain)) return { name: written, known: "elsewhere", near: [] };
  return { name: written, known: "unknown", near: nearestNames(written, [...TOOL_NAMES, ...hostTools]) };
}

function plainName(written: string): string {
  return written.toLowerCase().replace(/[-_]/g, "");
}
