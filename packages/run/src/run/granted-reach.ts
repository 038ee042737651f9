/**
 * What a run may reach beyond its own folders: what the user's config grants, limited to what the skill declares, its
 * trust and its caller. It only decides; `buildWorld` still hides and protects parts of a granted folder.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { expandPath, isInside, type Places, realPathOr } from "@metier/base/places";
import { once } from "@metier/base/turns";
import { accessTo, type World, type WorldRequest } from "@metier/sandbox";
import type { Skill, Trust } from "@metier/skills";
import { type Config, commonDomains, commonFolders, formatKeyPath, type Reach } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";

interface ReachInput {
  /** Already lowered to its caller's. */
  readonly trust: Trust;
  readonly config: Pick<Config, "sandbox" | "skills">;
  /** Absent in the user's own conversation, which has what any trusted skill has. */
  readonly skill?: Pick<Skill, "name" | "manifest"> | undefined;
  /** Where a manifest's relative paths start. */
  readonly cwd: string;
  readonly places: Pick<Places, "home">;
  /** The domains of the run that starts this one. */
  readonly caller?: readonly string[] | undefined;
}

interface GrantedReach {
  /** From the manifest and the skill's own table, as written. */
  readonly declared: Reach;
  /** Paths are real. */
  readonly granted: Reach;
  /** Declared in the manifest, but not or not fully granted; paths are absolute. */
  readonly missing: Reach;
}

const NOTHING: Reach = { network: [], read: [], write: [] };

export function grantReach({ trust, config, skill, cwd, places, caller }: ReachInput): GrantedReach {
  const own = skill && config.skills.settings[skill.name]?.sandbox;
  const written = skill?.manifest.sandbox;
  const declared = unite(written, own);
  const base = once(() => realPathOr(cwd));
  const absolute = (path: string): string => expandPath(path, places.home, base());
  const toPaths = ({ network, read, write }: Reach): Reach => ({
    network,
    read: [...read, ...write].map(absolute), // Writing includes reading.
    write: write.map(absolute),
  });
  const offered = toPaths(unite(config.sandbox, own));
  const wanted = written && toPaths(declared);
  const folders = (kind: "read" | "write"): readonly string[] => {
    const given = offered[kind].map(resolveReal);
    return [...new Set(wanted ? commonFolders(given, wanted[kind].map(resolveReal)) : given)];
  };
  const writable = trustAllows(trust, "write-working-directory") ? folders("write") : [];
  const readable = trustAllows(trust, "read-working-directory") ? folders("read") : [];
  const mayReach = trustAllows(trust, "use-network");
  const network = wanted ? commonDomains(offered.network, wanted.network) : offered.network;
  const narrowed = caller ? commonDomains(network, caller) : network;
  const granted: Reach = {
    network: mayReach ? narrowed : [],
    read: readable.filter((path) => !writable.some((folder) => isInside(path, folder))),
    write: writable,
  };
  // What is withheld from an untrusted skill is reported elsewhere.
  const missing = written && mayReach ? findMissing(toPaths(written), offered) : NOTHING;
  return { declared, granted, missing };
}

/** Paths as `buildWorld` takes them. They are real: one that has become a link isn't what was granted. */
export function grantedPaths({ read, write }: Reach): Pick<WorldRequest, "grantedRead" | "grantedWrite"> {
  const isInPlace = (path: string): boolean => realPathOr(path) === path;
  return { grantedRead: read.filter(isInPlace), grantedWrite: write.filter(isInPlace) };
}

/**
 * One diagnostic that says what to write where. What the run sees anyway, such as its working directory, isn't missing.
 */
export function reportMissing(
  skill: Pick<Skill, "name" | "location">,
  missing: Reach,
  world: World,
  configFile: string,
): readonly Diagnostic[] {
  const write = missing.write.filter((path) => accessTo(world, resolveReal(path)) !== "write");
  const asked = write.map(resolveReal); // Writing includes reading.
  const read = missing.read
    .filter((path) => accessTo(world, resolveReal(path)) === "none")
    .filter((path) => !asked.some((folder) => isInside(resolveReal(path), folder)));
  const lines = Object.entries({ network: missing.network, read, write }).filter(
    ([, list]) => list.length > 0,
  );
  if (lines.length === 0) return [];
  const shown = lines.map(
    ([key, list]) => `\`sandbox.${key}\` ${list.map((item) => `\`${item}\``).join(", ")}`,
  );
  const settings = lines.map(([key, list]) => `\`${key} = ${JSON.stringify(list)}\``);
  return [
    {
      code: "sandbox.not-granted",
      severity: "warning",
      path: skill.location,
      message: `\`${skill.name}\` declares more than the config grants: ${shown.join("; ")}.`,
      hint: `To grant it, add under \`[${formatKeyPath(["skills", skill.name, "sandbox"])}]\` in \`${configFile}\`: ${settings.join(", ")}.`,
    },
  ];
}

function findMissing(declared: Reach, offered: Reach): Reach {
  const notIn = (kind: "read" | "write"): readonly string[] => {
    const given = offered[kind].map(resolveReal);
    return declared[kind].filter((path) => !given.some((folder) => isInside(resolveReal(path), folder)));
  };
  return {
    network: declared.network.filter((domain) => !commonDomains([domain], offered.network).includes(domain)),
    read: notIn("read"),
    write: notIn("write"),
  };
}

function unite(...reaches: readonly (Partial<Reach> | undefined)[]): Reach {
  const all = (kind: keyof Reach): readonly string[] => [
    ...new Set(reaches.flatMap((reach) => reach?.[kind] ?? [])),
  ];
  return { network: all("network"), read: all("read"), write: all("write") };
}

/** For a path that doesn't exist yet, the links leading to it are followed. */
export function resolveReal(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path); // Whoever needs it reports that it is missing.
    return parent === path ? path : join(resolveReal(parent), basename(path));
  }
}
