/**
 * A `Metier` that knows one skill and nothing else of this machine: no config, no other skills, no values, no network.
 * What the machine's policy forbids stays forbidden. So a test has the same outcome everywhere.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, parse, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { GivenSkill } from "../catalog/given-skills.ts";
import { UsageError } from "../foundation/errors.ts";
import { realPathOr } from "../host/project-folders.ts";
import { removeFolder } from "../host/remove-folder.ts";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { MetierOptions, RunningOptions } from "../runtime/metier-options.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import { isSkillFileName } from "../sources/folder-listing.ts";
import { showNames } from "../validate/report.ts";

export interface TestSetting extends RunningOptions, Pick<MetierOptions, "capabilities" | "profile"> {
  /** What a skill in a file is trusted with. Default: `trusted`, since whoever tests it vouches for it. */
  readonly trust?: Trust;
  /** Config values, as in a config file. Default: those of a machine without one. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Default: that of the process, without `METIER_…`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Where a run may leave something. */
export interface TestPlace {
  readonly home: string;
  readonly cwd: string;
}

export interface TestMetier {
  readonly metier: Metier;
  readonly skill: Skill;
}

/** For whoever only reads: nothing is there, and nothing is written. */
export const NOWHERE: TestPlace = { home: resolve("/nonexistent"), cwd: parse(resolve(".")).root };

/** A home and a working folder, both empty, that are gone afterwards. */
export async function inTestPlace<Value>(act: (place: TestPlace) => Promise<Value>): Promise<Value> {
  const folder = realPathOr(mkdtempSync(join(tmpdir(), "metier-skill-test-")));
  try {
    const place = { home: join(folder, "home"), cwd: join(folder, "project") };
    mkdirSync(place.home);
    mkdirSync(place.cwd);
    return await act(place);
  } finally {
    removeFolder(folder);
  }
}

/** What a skill is named by, as an absolute path: its folder, if it has one, since the folder is what is trusted. */
export function toSkillPath(path: string | URL): string {
  const absolute = path instanceof URL ? fileURLToPath(path) : resolve(path);
  return isSkillFileName(basename(absolute)) ? dirname(absolute) : absolute;
}

/** Throws what `Metier.register` throws for a skill that cannot be loaded. */
export async function openTestMetier(
  subject: string | GivenSkill,
  setting: TestSetting,
  place: TestPlace,
): Promise<TestMetier> {
  const opened = await open(subject, setting, place, {});
  const { name, manifest } = opened.skill;
  // Who tests a skill wants to use it, also one that waits for the user's word elsewhere.
  return manifest.optIn ? open(subject, setting, place, { [name]: { enabled: true } }) : opened;
}

async function open(
  subject: string | GivenSkill,
  { trust = "trusted", config = {}, environment = process.env, ...options }: TestSetting,
  place: TestPlace,
  settings: Readonly<Record<string, unknown>>,
): Promise<TestMetier> {
  const metier = await createMetier({
    ...options,
    ...place,
    environment: withoutSettings(environment),
    autoDiscover: false,
    bundled: false,
    index: false,
    ...(typeof subject === "string" && trust === "trusted" && { trustedPaths: [subject] }),
    config: {
      ...config,
      environments: { build: false }, // Which would need the network.
      skills: {
        "auto-discover": false,
        "default-execution": "inline",
        ...(config.skills as Readonly<Record<string, unknown>> | undefined),
        ...settings,
      },
    },
  });
  const skill = await metier.register(subject);
  refuseSeveral(subject, metier.catalog.all);
  return { metier, skill };
}

function withoutSettings(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith("METIER_"),
    ),
  );
}

function refuseSeveral(subject: string | GivenSkill, skills: readonly Skill[]): void {
  if (skills.length < 2) return;
  const names = showNames(skills.map(({ name }) => name));
  throw new UsageError(`\`${subject}\` holds ${skills.length} skills: ${names}. A test is about one.`, {
    hint: "Name the folder or the file of one skill.",
  });
}
