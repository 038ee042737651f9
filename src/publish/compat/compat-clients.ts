/** The readers of skills whose ways are known, and what that knowledge comes from. A fact is as old as `seen` says. */

interface ClientRow {
  readonly name: string;
  /** The version or day that the facts were seen in. */
  readonly seen: string;
  /** Its own source was read, it was watched at work, or only its documentation says so. */
  readonly basis: "source" | "run" | "documentation";
  /** Few use it: what breaks there counts only for those who ask about it. */
  readonly isRare?: true;
}

const ROWS = {
  agentskills: { name: "Agent Skills reference validator", seen: "2026-08", basis: "source" },
  "claude-code": { name: "Claude Code", seen: "2.1.325", basis: "run" },
  "claude-ai": { name: "claude.ai and the Claude API", seen: "2026-09", basis: "documentation" },
  codex: { name: "Codex", seen: "0.166.0", basis: "source" },
  opencode: { name: "opencode", seen: "1.18.33", basis: "source" },
  "gemini-cli": { name: "Gemini CLI", seen: "0.61.0", basis: "source" },
  "qwen-code": { name: "Qwen Code", seen: "0.24.4", basis: "source" },
  cursor: { name: "Cursor", seen: "2026-08", basis: "documentation" },
  copilot: { name: "GitHub Copilot in VS Code", seen: "2026", basis: "source" },
  goose: { name: "Goose", seen: "2026-05", basis: "source" },
  amp: { name: "Amp", seen: "2026-09", basis: "documentation" },
  letta: { name: "Letta Code", seen: "2026", basis: "source" },
  pi: { name: "pi", seen: "0.87.1", basis: "source" },
  ash: { name: "ash", seen: "2026", basis: "source", isRare: true },
  "agent-harness": { name: "agent-harness", seen: "2026", basis: "source", isRare: true },
  mamba: { name: "mamba-agents", seen: "2026", basis: "source", isRare: true },
  weakincentives: { name: "weakincentives", seen: "2026", basis: "source", isRare: true },
} as const satisfies Record<string, ClientRow>;

export type CompatClientId = keyof typeof ROWS;

export interface CompatClient extends ClientRow {
  readonly id: CompatClientId;
}

export const COMPAT_CLIENTS: readonly CompatClient[] = Object.entries(ROWS).map(([id, row]) => ({
  id: id as CompatClientId,
  ...row,
}));

/** What people also call them. */
const OTHER_NAMES: ReadonlyMap<string, CompatClientId> = new Map([
  ["claude", "claude-code"],
  ["claude.ai", "claude-ai"],
  ["gemini", "gemini-cli"],
  ["github-copilot", "copilot"],
  ["mamba-agents", "mamba"],
  ["qwen", "qwen-code"],
  ["skills-ref", "agentskills"],
  ["spec", "agentskills"],
  ["vscode", "copilot"],
]);

export function findCompatClient(name: string): CompatClient | undefined {
  const id = OTHER_NAMES.get(name.toLowerCase()) ?? name.toLowerCase();
  return COMPAT_CLIENTS.find((client) => client.id === id);
}

/** What a table says of a client; most tables are silent about most. */
export type ByClient<Fact> = Partial<Readonly<Record<CompatClientId, Fact>>>;

export type ForEachClient<Fact> = Readonly<Record<CompatClientId, Fact>>;
