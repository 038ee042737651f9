/** Which skills of a source are meant: named by the request, the only one there is, or picked by whoever can be asked. */
import { compileGlob } from "../foundation/glob-pattern.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import { showPath } from "../host/contained-path.ts";
import type { SourceSkill } from "./find-source-skills.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";
import type { ChoosableSkill, InstallDecisions, InstallRequest, SkippedSkill } from "./install-request.ts";

export type Choice = { readonly ok: true; readonly chosen: readonly SourceSkill[] } | FaultOutcome;

export interface UniqueSkills {
  readonly unique: readonly SourceSkill[];
  readonly twins: readonly SkippedSkill[];
}

type Wish = Pick<InstallRequest, "skills" | "name">;

/** `found` is not empty. */
export async function chooseSkills(
  found: readonly SourceSkill[],
  { skills, name }: Wish,
  { choose }: InstallDecisions,
): Promise<Choice> {
  const choice =
    skills === undefined ? await chooseUnnamed(found, choose) : chooseNamed(found, skills.map(trimSlashes));
  if (choice.ok && name !== undefined && choice.chosen.length > 1) {
    return faulty(
      "install.usage",
      `\`${name}\` is to be the name of one skill, and ${choice.chosen.length} are chosen: ${list(choice.chosen)}.`,
      "Choose one of them with `--skill`.",
    );
  }
  return choice;
}

/** Two different skills of one name cannot both be installed, and which of them is meant is not guessed. */
export function setTwinsApart(chosen: readonly SourceSkill[]): UniqueSkills {
  const groups = [...Map.groupBy(chosen, ({ name }) => name).values()];
  const twins = groups.filter((group) => group.length > 1).map(refuseTwins);
  return { unique: groups.flatMap((group) => (group.length === 1 ? group : [])), twins };
}

function refuseTwins(group: readonly SourceSkill[]): SkippedSkill {
  const paths = group.map(({ path }) => showPath(path)).join(", ");
  return {
    name: group[0]?.name ?? "",
    code: "install.conflict",
    reason: `${group.length} different skills of the source have this name: ${paths}.`,
    hint: "Choose one of them by its path with `--skill`.",
  };
}

function chooseNamed(found: readonly SourceSkill[], wanted: readonly string[]): Choice {
  const chosen = new Set<SourceSkill>();
  for (const wish of wanted) {
    const fits = matching(found, wish);
    if (fits.length === 0) return nothingFits(found, wish);
    for (const skill of fits) chosen.add(skill);
  }
  return { ok: true, chosen: found.filter((skill) => chosen.has(skill)) };
}

/** A path stands for exactly one skill, so it comes before a name that may fit several. */
function matching(found: readonly SourceSkill[], wish: string): readonly SourceSkill[] {
  const byPath = found.filter(({ path }) => path === wish);
  if (byPath.length > 0) return byPath;
  const fits = compileGlob(wish);
  return found.filter(({ name, path }) => fits(name) || (wish.includes("/") && fits(path)));
}

function trimSlashes(wish: string): string {
  return wish.replace(/^\.\//, "").replace(/\/+$/, "");
}

function nothingFits(found: readonly SourceSkill[], wish: string): FaultOutcome {
  const near = nearestNames(
    wish,
    found.map(({ name }) => name),
  );
  const meant = near.length > 0 ? `Did you mean ${near.map((name) => `\`${name}\``).join(" or ")}? ` : "";
  return faulty(
    "install.no_skill",
    `The source has no skill ${showPath(wish)}.`,
    `${meant}It has: ${list(found)}.`,
  );
}

async function chooseUnnamed(
  found: readonly SourceSkill[],
  choose: InstallDecisions["choose"],
): Promise<Choice> {
  if (found.length === 1) return { ok: true, chosen: found };
  if (choose === undefined) {
    return faulty(
      "install.choice",
      `The source has ${found.length} skills: ${list(found)}.`,
      "Choose with `--skill <name>` (repeatable, also a glob or a path), or take all of them with `--all`.",
    );
  }
  const picked = new Set(await choose(found.map(choosable)));
  return { ok: true, chosen: found.filter(({ path }) => picked.has(path)) };
}

export function choosable({ name, path, description, valid }: SourceSkill): ChoosableSkill {
  return { name, path, description, valid };
}

const MOST_LISTED = 40;

function list(skills: readonly SourceSkill[]): string {
  const shown = skills.slice(0, MOST_LISTED).map(({ name }) => `\`${name}\``);
  const more = skills.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}
