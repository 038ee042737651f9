/** How a `Metier` looks skills over for dangers: those it knows, by name, and whatever skills lie at a path. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { PathsReport, ScannedPath } from "../scan/scan-paths.ts";
import type { MetierState } from "./load-state.ts";

export interface Scanning {
  /**
   * Looks over all files of skills by static rules; nothing of them is executed. A text that is there as a path, or has a
   * slash, is a path: of a skill or a folder of skills. Anything else is a name. Default: every usable skill.
   */
  scan(asked?: string | readonly string[]): Promise<PathsReport>;
}

export interface ScanningInputs {
  current(): MetierState;
  readonly cwd: string;
}

export function createScanning({ current, cwd }: ScanningInputs): Scanning {
  return {
    async scan(asked = []) {
      const { scanPaths } = await import("../scan/scan-paths.ts");
      const { scanSkill } = await import("../scan/scan-skill.ts");
      const { catalog, config } = current();
      const { ignore } = config.config.scan;
      const isPath = (text: string): boolean => existsSync(resolve(cwd, text)) || /[/\\]/.test(text);
      const texts = typeof asked === "string" ? [asked] : asked;
      const named = texts.filter((text) => !isPath(text)).map((name) => catalog.require(name));
      const skills = texts.length === 0 ? catalog.list() : named;
      const scanned: ScannedPath[] = [];
      for (const skill of skills.filter(({ location }) => location !== "")) {
        const { name, location, directory } = skill;
        const knownNames = catalog.names().filter((other) => other !== name);
        scanned.push({ ...(await scanSkill(skill, { name, knownNames, ignore })), location, directory });
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
