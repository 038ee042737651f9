/** The other programs that read skills: where each looks for them, in the user's home and in a project. */
import { nearestNames } from "../foundation/nearest-names.ts";
import type { LockOwner } from "../lock/lock-entry.ts";

export interface Client {
  readonly id: string;
  /** Its skills folder below the home, with `/`. */
  readonly user: string;
  /** Its skills folder below the root of a project. */
  readonly project: string;
  /** Whether it finds a skill whose folder is a link. */
  readonly followsLinks: boolean;
}

type Row = readonly [id: string, user: string, project: string];

const SHARED = ".agents/skills";

/** The two shared folders first; then those that read them in projects and have one of their own at home. */
const ROWS: readonly Row[] = [
  ["agents", SHARED, SHARED],
  ["claude-code", ".claude/skills", ".claude/skills"],
  ["cline", SHARED, SHARED],
  ["codex", SHARED, SHARED],
  ["pi", SHARED, SHARED],
  ["warp", SHARED, SHARED],
  ["zed", SHARED, SHARED],
  ["amp", ".config/agents/skills", SHARED],
  ["antigravity", ".gemini/antigravity/skills", SHARED],
  ["copilot", ".copilot/skills", SHARED],
  ["cursor", ".cursor/skills", SHARED],
  ["deepagents", ".deepagents/agent/skills", SHARED],
  ["droid", ".factory/skills", SHARED],
  ["gemini-cli", ".gemini/skills", SHARED],
  ["kilo", ".kilo/skills", SHARED],
  ["opencode", ".config/opencode/skills", SHARED],
  ["augment", ".augment/skills", ".augment/skills"],
  ["continue", ".continue/skills", ".continue/skills"],
  ["crush", ".config/crush/skills", ".crush/skills"],
  ["goose", ".config/goose/skills", ".goose/skills"],
  ["junie", ".junie/skills", ".junie/skills"],
  ["kiro-cli", ".kiro/skills", ".kiro/skills"],
  ["mistral-vibe", ".vibe/skills", ".vibe/skills"],
  ["openhands", ".openhands/skills", ".openhands/skills"],
  ["qwen-code", ".qwen/skills", ".qwen/skills"],
  ["roo", ".roo/skills", ".roo/skills"],
  ["trae", ".trae/skills", ".trae/skills"],
  ["windsurf", ".codeium/windsurf/skills", ".windsurf/skills"],
  ["agent-harness", ".agent/skills", ".agent/skills"],
];

const IGNORE_LINKS: ReadonlySet<string> = new Set(["agent-harness"]);

export const CLIENTS: readonly Client[] = ROWS.map(([id, user, project]) => ({
  id,
  user,
  project,
  followsLinks: !IGNORE_LINKS.has(id),
}));

/** What people also call them. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["claude", "claude-code"],
  ["factory", "droid"],
  ["gemini", "gemini-cli"],
  ["github-copilot", "copilot"],
  ["kiro", "kiro-cli"],
  ["universal", "agents"],
]);

const BY_ID: ReadonlyMap<string, Client> = new Map(CLIENTS.map((client) => [client.id, client]));

export function findClient(name: string): Client | undefined {
  return BY_ID.get(OTHER_NAMES.get(name) ?? name);
}

/** Where the client looks for the skill, below the home or the project's root. */
export function clientPath(client: Client, owner: LockOwner, skill: string): string {
  return `${client[owner]}/${skill}`;
}

/** Whether a client looks there in a project: what a project's lock may name as a place of the skill. */
export function isClientPath(path: string, skill: string): boolean {
  return CLIENTS.some((client) => clientPath(client, "project", skill) === path);
}

/** What to do about a name that no client has. */
export function explainClients(name: string): string {
  const near = nearestNames(name, [...BY_ID.keys(), ...OTHER_NAMES.keys()]).map((id) => `\`${id}\``);
  const meant = near.length > 0 ? `Did you mean ${near.join(" or ")}? ` : "";
  return `${meant}Known are ${CLIENTS.map(({ id }) => `\`${id}\``).join(", ")}.`;
}
