/**
 * Scans skills for dangers: known skills by name, and any skills at a path. Also decides, by the current config,
 * whether findings block an untrusted skill.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { TellHost } from "@metier/base/diagnostic";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import type { HeldSkill, PathsReport, ScannedPath } from "@metier/scan";
import type { Skill } from "@metier/skills";
import type { MetierParts } from "./load-state.ts";
import type { ReadySkill, Remote } from "./remote.ts";

/** Scans skills for dangers. */
export interface Scanning {
  /**
   * Checks all files of skills with static rules; executes nothing. A string that exists as a path, or contains a
   * slash, is a path to a skill or a folder of skills. Anything else is a name. Default: every usable skill.
   */
  scan(asked?: string | readonly string[], options?: ScanOptions): Promise<PathsReport>;
}

interface ScanOptions {
  /** Called before each skill. If both names and paths are given, the number of skills isn't known: no `total`. */
  onProgress?(step: {
    /** What is being done, in words. */
    readonly what: string;
    /** How much of it is done. */
    readonly done: number;
    /** The total; absent if not known yet. */
    readonly total?: number | undefined;
  }): unknown;
}

const SCAN_OPTIONS: OptionKeys<ScanOptions> = { onProgress: true };

/** `load` fetches the files of a skill that aren't on this machine. */
export function createScanning(
  { current, cwd, cacheFolder }: MetierParts,
  load: Remote["load"],
  tell: TellHost,
): Scanning {
  return {
    async scan(asked = [], options = {}) {
      checkKeys("scan", options, SCAN_OPTIONS);
      const say = (done: number, all?: number): void =>
        tell("onProgress", options.onProgress, { what: "Scanning", done, total: all });
      const { scanPaths } = await import("@metier/scan/engine");
      const isPath = (text: string): boolean => existsSync(resolve(cwd, text)) || /[/\\]/.test(text);
      const texts = typeof asked === "string" ? [asked] : asked;
      const named: Skill[] = [];
      for (const name of texts.filter((text) => !isPath(text))) named.push((await load(name)).skill);
      const { catalog, config } = current();
      const { ignore } = config.config.scan;
      const skills = texts.length === 0 ? catalog.list().filter(isHere) : named;
      const found = skills.filter(({ location }) => location !== "");
      const paths = texts.filter(isPath).map((path) => resolve(cwd, path));
      const sayKnown = (done: number, all: number): void => say(done, paths.length === 0 ? all : undefined);
      const scanned = await scanKnown(found, { knownNames: catalog.names(), ignore }, sayKnown, cacheFolder);
      const sayFound = (done: number, all: number): void => say(scanned.length + done, scanned.length + all);
      const atPaths = await scanPaths(paths, { ignore }, sayFound, cacheFolder);
      const locations = new Set(scanned.map(({ location }) => location));
      const further = atPaths.skills.filter(({ location }) => !locations.has(location));
      return { skills: [...scanned, ...further], diagnostics: atPaths.diagnostics };
    },
  };
}

/** A skill's own name in `knownNames` doesn't count against it. */
async function scanKnown(
  skills: readonly Skill[],
  options: { readonly knownNames: readonly string[]; readonly ignore: readonly string[] },
  say: (done: number, all: number) => void,
  cacheFolder: string | undefined,
): Promise<readonly ScannedPath[]> {
  const { openScanPool } = await import("@metier/scan/engine");
  const pool = openScanPool(options, cacheFolder);
  try {
    for (const { name, form, location, directory } of skills)
      pool.add({ subject: { form, location, directory }, name });
    const reports = await pool.finish(say);
    return skills.flatMap(({ location, directory, locked }, index): readonly ScannedPath[] => {
      const report = reports[index];
      const isInstalled = locked !== undefined && !locked.linked;
      return report ? [{ ...report, location, directory, ...(isInstalled && { isInstalled }) }] : [];
    });
  } finally {
    await pool.close();
  }
}

/** When everything is scanned, no server is asked for files that weren't fetched yet. */
function isHere({ remote, location }: Skill): boolean {
  return remote === undefined || existsSync(location);
}

export interface ScanGate {
  /** `skill` has the trust that was decided for this use. */
  heldBack(skill: Skill): Promise<HeldSkill | undefined>;
  /** The same in words for a model, for a skill as the catalog knows it. */
  whyHeld(skill: Skill): Promise<string | undefined>;
}

export function createScanGate({ current, cacheFolder }: MetierParts, ready: ReadySkill): ScanGate {
  const heldBack: ScanGate["heldBack"] = async (skill) => {
    if (skill.remote && !existsSync(skill.location)) return undefined; // Without files, it is refused as unreadable.
    const { holdBack } = await import("@metier/scan/engine");
    const { readScanPolicy } = await import("@metier/scan/engine");
    const { config, catalog } = current();
    return holdBack(skill, () => readScanPolicy(config.config.scan, catalog.names()), cacheFolder);
  };
  return {
    heldBack,
    async whyHeld(skill) {
      const readiness = await ready(skill, false);
      if (readiness.kind !== "ready") {
        const { refuseLoad } = await import("@metier/install/remote");
        return refuseLoad(skill, readiness).message;
      }
      const { trust } = current().trustOnUse(skill);
      const held = await heldBack({ ...skill, trust });
      if (held === undefined) return undefined;
      const { describeHeld } = await import("@metier/scan/engine");
      return describeHeld(skill.name, held);
    },
  };
}
