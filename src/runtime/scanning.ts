/** How a `Metier` looks skills over for dangers: those it knows, by name, and whatever skills lie at a path. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { PathsReport, ScannedPath } from "../scan/scan-paths.ts";
import type { Skill } from "../skill/skill.ts";
import type { MetierState } from "./load-state.ts";
import type { Remote } from "./remote.ts";

export interface Scanning {
  /**
   * Looks over all files of skills by static rules; nothing of them is executed. A text that is there as a path, or has a
   * slash, is a path: of a skill or a folder of skills. Anything else is a name. Default: every usable skill.
   */
  scan(asked?: string | readonly string[]): Promise<PathsReport>;
}

export interface ScanningInputs {
  current(): MetierState;
  /** Fetches the files of a skill that is not here. */
  readonly load: Remote["load"];
  readonly cwd: string;
}

export function createScanning({ current, load, cwd }: ScanningInputs): Scanning {
  return {
    async scan(asked = []) {
      const { scanPaths } = await import("../scan/scan-paths.ts");
      const { scanSkill } = await import("../scan/scan-skill.ts");
      const isPath = (text: string): boolean => existsSync(resolve(cwd, text)) || /[/\\]/.test(text);
      const texts = typeof asked === "string" ? [asked] : asked;
      const named: Skill[] = [];
      for (const name of texts.filter((text) => !isPath(text))) named.push((await load(name)).skill);
      const { catalog, config } = current();
      const { ignore } = config.config.scan;
      const skills = texts.length === 0 ? catalog.list().filter(isHere) : named;
      const scanned: ScannedPath[] = [];
      for (const skill of skills.filter(({ location }) => location !== "")) {
        const { name, location, directory, locked } = skill;
        const knownNames = catalog.names().filter((other) => other !== name);
        const report = await scanSkill(skill, { name, knownNames, ignore });
        const isInstalled = locked !== undefined && !locked.linked;
        scanned.push({ ...report, location, directory, ...(isInstalled && { isInstalled }) });
      }
      const atPaths = await scanPaths(
        texts.filter(isPath).map((path) => resolve(cwd, path)),
        { ignore },
      );
      const locations = new Set(scanned.map(({ location }) => location));
      const further = atPaths.skills.filter(({ location }) => !locations.has(location));
      return { skills: [...scanned, ...further], diagnostics: atPaths.diagnostics };
    },
  };
}

/** Where everything is looked over, no server is asked for what was not fetched yet. */
function isHere({ remote, location }: Skill): boolean {
  return remote === undefined || existsSync(location);
}
