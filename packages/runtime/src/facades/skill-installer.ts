/**
 * Other systems' installer, as a thin class over `createMetier`: installs one skill from one git address and reports
 * whether it worked. It installs for the user, passes questions on, and trusts nothing.
 */
import { presentFields } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import type { InstallDecisions } from "@metier/install";
import { type PluginEntry, pluginName } from "@metier/skills/config";
import { calledAs, userLockFile } from "@metier/skills/trust";
import { createMetier, type Metier } from "../runtime/create-metier.ts";

/** Where a `SkillInstaller` works, and who decides for it. */
export interface SkillInstallerConfig {
  /** Where the project's config is searched. Default: the process's working directory. */
  readonly cwd?: string;
  /** Replaces the user's home folder. Default: `METIER_HOME` from the environment, or the OS home. */
  readonly home?: string;
  /** Replaces the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Who reviews what is installed, and decides when a name is taken. Default: nobody, so the safe answer. */
  readonly decisions?: Pick<InstallDecisions, "review" | "conflict">;
}

/** Which skill to install, and its name here. */
export interface InstallOptions {
  /** Address of the repository. */
  readonly url: string;
  /** Branch, tag or commit. */
  readonly ref?: string;
  /** The skill's name here; its folder keeps its own name. */
  readonly name?: string;
}

/** Whether a skill was installed, updated or removed. Failures are results too. */
export interface InstallResult {
  /** Whether it worked, including when there was nothing to do. */
  readonly success: boolean;
  /** The skill's name here; if nothing was installed, the requested name. */
  readonly skillName: string;
  /** The skill's folder; `""` if there is none. */
  readonly path: string;
  /** What went wrong, with a hint; present only when `success` is `false`. */
  readonly error?: string;
}

/** A skill that was installed from a repository. */
export interface PluginDefinition extends PluginEntry {
  /** The name it has in the catalog. */
  readonly name: string;
}

const CONFIG: OptionKeys<SkillInstallerConfig> = {
  cwd: true,
  home: true,
  environment: true,
  decisions: true,
};
const INSTALL: OptionKeys<InstallOptions> = { url: true, ref: true, name: true };

/** Installs, updates and removes the user's skills, one at a time. Create one with `SkillInstaller.create`. */
export class SkillInstaller {
  readonly #metier: Metier;
  readonly #decisions: InstallDecisions;

  private constructor(metier: Metier, decisions: InstallDecisions) {
    this.#metier = metier;
    this.#decisions = decisions;
  }

  /** Loads the config and the existing skills. Throws like `createMetier`. */
  static async create(config: SkillInstallerConfig = {}): Promise<SkillInstaller> {
    checkKeys("SkillInstaller.create", config, CONFIG);
    checkKeys("SkillInstaller.create({ decisions })", config.decisions, { review: true, conflict: true });
    const { decisions = {}, ...options } = config;
    return new SkillInstaller(await createMetier(options), decisions);
  }

  /** The underlying `Metier`. */
  get metier(): Metier {
    return this.#metier;
  }

  /** It isn't an error if the same content is already installed. */
  async install(options: InstallOptions): Promise<InstallResult> {
    checkKeys("SkillInstaller.install", options ?? null, INSTALL);
    const { url, ref, name } = options;
    const request = { source: url, ...presentFields({ ref, name }) };
    const asked = pluginName({ url, ...presentFields({ name }) });
    const outcome = await this.#metier.install(request, this.#decisions);
    if (!outcome.ok) return fail(asked, outcome.fault.message, outcome.fault.hint);
    const [installed] = outcome.installed;
    if (installed) return this.#succeed(installed.name, installed.path);
    const [skipped] = outcome.skipped;
    if (skipped?.code === "same") return this.#succeed(skipped.name);
    return fail(skipped?.name ?? asked, skipped?.reason ?? "Nothing was installed.", skipped?.hint);
  }

  /** Installs the newest version, unless it has new risks or would overwrite local changes. */
  async update(name: string): Promise<InstallResult> {
    const outcome = await this.#metier.update({ skills: [name], project: false });
    if (!outcome.ok) return fail(name, outcome.fault.message, outcome.fault.hint);
    const [skipped] = outcome.skipped;
    const isDone = skipped === undefined || ["current", "pinned", "local"].includes(skipped.code);
    return isDone ? this.#succeed(name) : fail(name, skipped.reason, skipped.hint);
  }

  /** Removes a skill that was installed for the user. */
  async remove(name: string): Promise<InstallResult> {
    const outcome = await this.#metier.remove(name);
    return outcome.ok
      ? { success: true, skillName: name, path: "" }
      : fail(name, outcome.fault.message, outcome.fault.hint);
  }

  /** The skills installed from repositories, by name. */
  async list(): Promise<readonly PluginDefinition[]> {
    const { readLock } = await import("@metier/skills/formats");
    const read = readLock(userLockFile(this.#metier.places));
    const { describePlugin } = await import("@metier/install/engine");
    const { plugins } = this.#metier.config.config.skills;
    return (read.ok ? read.value.skills : []).flatMap((entry) => {
      const name = calledAs(entry);
      const plugin = describePlugin(entry, this.#metier.places);
      const enabled = this.#metier.get(`installed:${name}`)?.status !== "disabled";
      if (plugin === undefined) return [];
      // Locks of earlier versions have the date; otherwise, the entry that the installation left in the user's config
      // has it.
      const installedAt = plugin.installedAt ?? plugins.find((known) => known.name === name)?.installedAt;
      return [{ ...plugin, name, enabled, installedAt }];
    });
  }

  #succeed(skillName: string, path?: string): InstallResult {
    const found = path ?? this.#metier.get(`installed:${skillName}`)?.directory;
    return { success: true, skillName, path: found ?? "" };
  }
}

function fail(skillName: string, message: string, hint?: string): InstallResult {
  return { success: false, skillName, path: "", error: hint ? `${message} ${hint}` : message };
}
