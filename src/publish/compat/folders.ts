/** In which folders of a project each client looks for skills: one that lies in another's folder is not found. */
import { dirname, sep } from "node:path";
import { presetLayout } from "../../config/presets.ts";
import { CLIENTS } from "../../install/clients.ts";
import type { ByClient, CompatClientId } from "./compat-clients.ts";
import { type CompatSubject, note, type Remark } from "./compat-subject.ts";

const SHARED = ".agents/skills";
const CLAUDE = ".claude/skills";

const FOLDERS: ByClient<readonly string[]> = {
  "claude-code": [CLAUDE],
  codex: [SHARED, ".codex/skills"],
  opencode: [".opencode/skills", CLAUDE, SHARED],
  "gemini-cli": [".gemini/skills", SHARED],
  "qwen-code": [".qwen/skills", SHARED],
  cursor: [".cursor/skills", CLAUDE, ".codex/skills", SHARED],
  copilot: [".github/skills", ".copilot/skills", CLAUDE, SHARED],
  goose: [".goose/skills", CLAUDE, SHARED],
  amp: [SHARED, CLAUDE],
  letta: [".skills", ".letta/skills"],
  pi: [".pi/skills", SHARED],
  ash: presetLayout("ash").projectDirs,
  "agent-harness": presetLayout("agent-harness").projectDirs,
  mamba: presetLayout("mamba").projectDirs,
};

const KNOWN: readonly string[] = [
  ...new Set([...Object.values(FOLDERS).flat(), ...CLIENTS.map(({ project }) => project)]),
];

/** Silent about a skill that lies where no client looks: that is where its author works. */
export function checkFolder({ candidate }: CompatSubject, client: CompatClientId): readonly Remark[] {
  const folders = FOLDERS[client];
  const parent = dirname(candidate.form === "directory" ? candidate.directory : candidate.file)
    .split(sep)
    .join("/");
  const found = KNOWN.find((folder) => parent.endsWith(`/${folder}`));
  if (folders === undefined || found === undefined || folders.includes(found)) return [];
  return [
    note(
      "folder",
      `It lies in \`${found}\`, and is looked for in ${folders.map((each) => `\`${each}\``).join(", ")}.`,
    ),
  ];
}
