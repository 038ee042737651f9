/**
 * The directories, order and config files of the systems Metier can stand in for, as data; and Metier's own.
 * Lists of directories are lowest precedence first. Paths begin with `~` or are below a project folder.
 */
import type { Places } from "../host/places.ts";
import { expandPath } from "../host/places.ts";
import { SCOPES, type Scope } from "../skill/scope.ts";
import type { DefaultExecution, PresetName, SkillsConfig } from "./config.ts";

export interface Layout {
  /** Below each project folder. */
  readonly projectDirs: readonly string[];
  readonly userDirs: readonly string[];
  readonly installedDirs: readonly string[];
  /** Scopes, lowest first. */
  readonly order: readonly Scope[];
  /** How a skill that does not say is run; `undefined`: as the config says. */
  readonly defaultExecution?: DefaultExecution;
  /** The other system's own config, of which Metier reads some sections. */
  readonly configFiles: readonly { readonly path: string; readonly sections: readonly string[] }[];
  /** Environment variables that set the same keys: `MAMBA_SKILLS__AUTO_DISCOVER`. */
  readonly environmentPrefix?: string;
}

const METIER_LAYOUT: Layout = {
  projectDirs: [".claude/skills", ".agents/skills", ".metier/skills"],
  userDirs: ["~/.claude/skills", "~/.agents/skills", "~/.metier/skills"],
  installedDirs: [],
  order: SCOPES,
  configFiles: [],
};

const PRESET_LAYOUTS: Readonly<Record<PresetName, Layout>> = {
  ash: {
    projectDirs: ["workspace/skills"],
    userDirs: ["~/.ash/skills"],
    installedDirs: ["~/.ash/skills.installed"],
    order: SCOPES,
    defaultExecution: "isolated",
    configFiles: [{ path: "~/.ash/config.toml", sections: ["skills", "models", "capabilities"] }],
  },
  "agent-harness": {
    projectDirs: [".claude/skills", ".agent/skills"],
    userDirs: ["~/.agent/skills"],
    installedDirs: ["~/.agent/plugins"],
    order: ["remote", "bundled", "integration", "custom", "user", "project", "installed"],
    configFiles: [{ path: "~/.agent/config.yaml", sections: ["skills"] }],
  },
  mamba: {
    projectDirs: [".mamba/skills"],
    userDirs: ["~/.mamba/skills"],
    installedDirs: [],
    order: ["remote", "custom", "bundled", "integration", "installed", "user", "project"],
    defaultExecution: "inline",
    configFiles: [],
    environmentPrefix: "MAMBA_SKILLS__",
  },
  /** One explicit directory: `skills.paths` or `--path`. */
  weakincentives: {
    projectDirs: [],
    userDirs: [],
    installedDirs: [],
    order: SCOPES,
    defaultExecution: "inline",
    configFiles: [],
  },
};

/** A preset's layout as it stands in the table; without a name Metier's own. */
export function presetLayout(name?: PresetName): Layout {
  return name === undefined ? METIER_LAYOUT : PRESET_LAYOUTS[name];
}

/**
 * Where to look, after the config's own directories have replaced the preset's; nowhere when discovery is off. User and
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
