/**
 * Every known program that uses skills, in one table, the basis of `metier compat`, `install --agent`, the presets and
 * the notes of `validate`. Directory lists start with the lowest precedence.
 */
import { expandPath, type Places } from "@metier/base/places";
import type { PresetName, SkillsConfig } from "../config/config.ts";
import { acceptedSpellings, type ManifestField } from "../skill/manifest.ts";
import { SCOPES } from "../skill/skill-name.ts";
import type { Client, Layout } from "./client.ts";
import { READERS } from "./readers.ts";

const SHARED = ".agents/skills";

/** Only their folders are known; if one is given, it is the same in home and project. */
const FOLDERS: readonly (readonly [id: string, user: string, project?: string, alsoCalled?: string])[] = [
  ["agents", SHARED, SHARED, "universal"],
  ["cline", SHARED],
  ["warp", SHARED],
  ["zed", SHARED],
  ["antigravity", ".gemini/antigravity/skills", SHARED],
  ["deepagents", ".deepagents/agent/skills", SHARED],
  ["droid", ".factory/skills", SHARED, "factory"],
  ["kilo", ".kilo/skills", SHARED],
  ["augment", ".augment/skills"],
  ["continue", ".continue/skills"],
  ["crush", ".config/crush/skills", ".crush/skills"],
  ["junie", ".junie/skills"],
  ["kiro-cli", ".kiro/skills", ".kiro/skills", "kiro"],
  ["mistral-vibe", ".vibe/skills"],
  ["openhands", ".openhands/skills"],
  ["roo", ".roo/skills"],
  ["trae", ".trae/skills"],
  ["windsurf", ".codeium/windsurf/skills", ".windsurf/skills"],
];

/** Only their authors' fields are known; and Metier itself. */
const WRITERS: readonly Client[] = [
  { id: "openclaw", name: "OpenClaw", writes: ["requires"] },
  { id: "metier", name: "Metier", writes: ["opt-in", "requires", "sandbox"] },
];

export const KNOWN_CLIENTS: readonly Client[] = [
  ...READERS,
  ...FOLDERS.map(([id, user, project = user, alsoCalled]) => ({
    id,
    name: id,
    alsoCalled: alsoCalled === undefined ? [] : [alsoCalled],
    folders: { user, project },
  })),
  ...WRITERS,
];

/** By its id or another name, in any letter case. */
export function findKnownClient(name: string): Client | undefined {
  const asked = name.toLowerCase();
  return KNOWN_CLIENTS.find(({ id, alsoCalled }) => id === asked || alsoCalled?.includes(asked));
}

/** Systems with their own dialect, in the order in which a field names them. */
const DIALECTS: readonly string[] = ["claude-code", "agent-harness", "ash", "mamba", "openclaw", "metier"];

/** Who knows a field outside the specification; Metier stands for the systems behind the presets. */
export function dialectsOf(field: ManifestField): readonly Client[] {
  const spellings = acceptedSpellings(field);
  const knows = ({ writes, reading }: Client): boolean =>
    (writes?.includes(field.name) ?? false) ||
    (reading?.keys.some((key) => spellings.includes(key)) ?? false);
  const known = DIALECTS.flatMap((id) => findKnownClient(id) ?? []).filter(
    (client) => client.id === "metier" || knows(client),
  );
  const named = known.filter(({ layout }) => layout === undefined);
  const metier = named.find(({ id }) => id === "metier");
  const isOwn = named.length < known.length || (metier !== undefined && knows(metier));
  return named.filter((client) => client !== metier || isOwn);
}

const METIER_LAYOUT: Layout = {
  projectDirs: [".claude/skills", ".agents/skills", ".metier/skills"],
  userDirs: ["~/.claude/skills", "~/.agents/skills", "~/.metier/skills"],
  installedDirs: [],
  order: SCOPES,
  configFiles: [],
};

/** A preset's layout as in the table; without a name Metier's own. */
export function presetLayout(name?: PresetName): Layout {
  return (name && findKnownClient(name)?.layout) ?? METIER_LAYOUT;
}

/**
 * Where to look, after the config's own directories have replaced the preset's; nowhere if discovery is off. User and
 * installed are absolute.
 */
export function resolveLayout(
  skills: Pick<SkillsConfig, "autoDiscover" | "preset" | "projectDirs" | "userDir" | "pluginsDir" | "order">,
  places: Places,
): Pick<Layout, "projectDirs" | "userDirs" | "installedDirs" | "order"> {
  if (!skills.autoDiscover) return { projectDirs: [], userDirs: [], installedDirs: [], order: skills.order };
  const layout = presetLayout(skills.preset);
  const expand = (path: string): string => expandPath(path, places.home, places.home);
  return {
    projectDirs: skills.projectDirs ?? layout.projectDirs,
    userDirs: skills.userDir === undefined ? layout.userDirs.map(expand) : [skills.userDir],
    installedDirs: skills.pluginsDir === undefined ? layout.installedDirs.map(expand) : [skills.pluginsDir],
    order: skills.order,
  };
}
