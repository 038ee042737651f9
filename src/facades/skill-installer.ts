/**
 * The installer other systems know, as a thin face over `createMetier`: one skill from one git address, and an answer that
 * says whether it worked. It installs for the user; questions go to whoever is given, and nothing is trusted thereby.
 */
import type { PluginEntry } from "../config/config.ts";
import { pluginName } from "../config/plugin-entry.ts";
import type { InstallDecisions } from "../install/install-request.ts";
import { calledAs } from "../lock/lock-entry.ts";
import { userLockFile } from "../lock/lock-places.ts";
import { createMetier, type Metier } from "../runtime/create-metier.ts";

export interface SkillInstallerConfig {
  readonly cwd?: string;
  readonly home?: string;
  /** In place of the process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Who looks at what is to be installed, and decides about a name that is taken. Default: nobody, so the safe answer. */
  readonly decisions?: Pick<InstallDecisions, "review" | "conflict">;
}

export interface InstallOptions {
  /** Address of the repository. */
  readonly url: string;
  /** Branch, tag or commit. */
  readonly ref?: string;
  /** What the skill is to be called here; its folder keeps its own name. */
  readonly name?: string;
}

export interface InstallResult {
  readonly success: boolean;
  readonly skillName: string;
  /** The skill's folder; `""` if there is none. */
  readonly path: string;
  readonly error?: string;
}

/** A skill that was installed from a repository. */
export interface PluginDefinition extends PluginEntry {
  readonly name: string;
}

export class SkillInstaller {
  readonly #metier: Metier;
  readonly #decisions: InstallDecisions;

  private constructor(metier: Metier, decisions: InstallDecisions) {
    this.#metier = metier;
    this.#decisions = decisions;
  }

  static async create({ decisions = {}, ...options }: SkillInstallerConfig = {}): Promise<SkillInstaller> {
    return new SkillInstaller(await createMetier(options), decisions);
  }

  /** What is behind it. */
  get metier(): Metier {
    return this.#metier;
  }

  /** What is installed already, with the same content, is no fault. */
  async install({ url, ref, name }: InstallOptions): Promise<InstallResult> {
    const request = { source: url, ...(ref !== undefined && { ref }), ...(name !== undefined && { name }) };
    const asked = pluginName({ url, ...(name !== undefined && { name }) });
    const outcome = await this.#metier.install(request, this.#decisions);
    if (!outcome.ok) return fail(asked, outcome.fault.message, outcome.fault.hint);
    const [installed] = outcome.installed;
    if (installed) return this.#succeed(installed.name, installed.path);
    const [skipped] = outcome.skipped;
    if (skipped?.code === "same") return this.#succeed(skipped.name);
    return fail(skipped?.name ?? asked, skipped?.reason ?? "Nothing was installed.", skipped?.hint);
  }

  /** Takes the newest version, unless that brings new risks or overwrites local changes. */
  async update(name: string): Promise<InstallResult> {
    const outcome = await this.#metier.update({ skills: [name], project: false });
    if (!outcome.ok) return fail(name, outcome.fault.message, outcome.fault.hint);
    const [skipped] = outcome.skipped;
    const isDone = skipped === undefined || ["current", "pinned", "local"].includes(skipped.code);
    return isDone ? this.#succeed(name) : fail(name, skipped.reason, skipped.hint);
  }

  async remove(name: string): Promise<InstallResult> {
    const outcome = await this.#metier.remove(name);
    return outcome.ok
      ? { success: true, skillName: name, path: "" }
      : fail(name, outcome.fault.message, outcome.fault.hint);
  }

  /** What was installed from repositories, by name. */
  async list(): Promise<readonly PluginDefinition[]> {
    const { readLock } = await import("../lock/lock-store.ts");
    const read = readLock(userLockFile(this.#metier.places));
    const { describePlugin } = await import("../install/plugin-config.ts");
    return (read.ok ? read.lock.skills : []).flatMap((entry) => {
      const name = calledAs(entry);
      const plugin = describePlugin(entry, this.#metier.places);
      const enabled = this.#metier.get(`installed:${name}`)?.status !== "disabled";
      return plugin ? [{ ...plugin, name, enabled }] : [];
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
