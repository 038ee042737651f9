/**
 * A skill named by its location: `./folder`, `path/to/SKILL.md`, or the name of a folder right here, as `metier new`
 * leaves it. It is used like a skill from `--path`: exactly this one, even if others share its name, and with no more
 * trust.
 */
import { lstatSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { UsageError } from "@metier/base/errors";
import { isInside, isOwnFolder, realPathOr } from "@metier/base/places";
import { safeLine, safeText } from "@metier/base/text";
import type { Metier, MetierOptions } from "@metier/runtime";
import { isSkillName, SKILL_FILE, type Skill } from "@metier/skills";
import type { CommonFlags } from "../commands/define.ts";
import { type CliContext, err } from "../context.ts";
import { openMetier, openSilently, tellUnusablePaths, workingDirectory } from "../open-metier.ts";

interface OpenedSkill {
  readonly metier: Metier;
  /** The name `metier` knows the skill by. */
  readonly address: string;
  /** The command that trusts it, if it was named by its path and isn't trusted. */
  readonly trustWith?: string;
  /** `--path`, plus the skill's location if it was named by that. */
  readonly paths: readonly string[];
}

/** `word` is a name, `scope:name` or a path. A name that isn't found is left for the run to refuse. */
export async function openSkill(
  context: CliContext,
  flags: CommonFlags,
  word: string,
  more: MetierOptions = {},
): Promise<OpenedSkill> {
  const cwd = workingDirectory(context, flags);
  const paths = (flags.path ?? []).map((path) => resolve(cwd, path));
  const open = { ...flags, path: paths };
  if (isPath(word)) return openAt(context, open, word, resolve(cwd, word), more);
  const metier = await openMetier(context, open, more);
  const folder = join(cwd, word);
  if (metier.get(word) !== undefined || !isSkillName(word) || !isOwnSkillFolder(folder)) {
    return { metier, address: word, paths };
  }
  await metier.capabilities.close();
  if (!flags.json) err(context, `No skill named \`${word}\` is set up, so this runs \`./${word}\`.`);
  return openAt(context, open, `./${word}`, folder, more);
}

/** Names have no slash, and no dot at either end. */
function isPath(word: string): boolean {
  return word.includes("/") || word === "." || word === ".." || /\.(?:md|ya?ml)$/i.test(word);
}

/** Only in this folder, and only if it is the user's: in a shared folder, a name must not run what others put there. */
function isOwnSkillFolder(folder: string): boolean {
  const isThere = lstatSync(join(folder, SKILL_FILE), { throwIfNoEntry: false })?.isFile() ?? false;
  return isThere && isOwnFolder(folder);
}

async function openAt(
  context: CliContext,
  flags: CommonFlags,
  word: string,
  named: string,
  more: MetierOptions,
): Promise<OpenedSkill> {
  const stats = statSync(named, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new UsageError(`\`${word}\` does not exist.`, {
      hint: "Pass a skill folder, a `SKILL.md`, or a skill that `metier list` shows.",
    });
  }
  const isSkillFile = !stats.isDirectory() && basename(named).toLowerCase() === SKILL_FILE.toLowerCase();
  const location = isSkillFile ? dirname(named) : named;
  const paths = [...(flags.path ?? []), location];
  const metier = await openSilently(context, { ...flags, path: paths }, more);
  tellUnusablePaths(context, flags, metier);
  try {
    const skill = requireSkillAt(metier, word, location);
    const address = addressOf(metier, skill, word);
    if (skill.trust.level === "trusted") return { metier, address, paths };
    const path = await pathToType(context, location);
    return { metier, address, paths, trustWith: `metier trust ${skill.name} --path ${path}` };
  } catch (fault) {
    await metier.capabilities.close();
    throw fault;
  }
}

function requireSkillAt({ catalog }: Metier, word: string, location: string): Skill {
  const real = realPathOr(location);
  const isAt = ({ form, directory, location: file }: Skill): boolean =>
    realPathOr(form === "directory" ? directory : file) === real;
  const skill = catalog.all.find(isAt);
  if (skill) return skill;
  const below = catalog.all.filter(({ directory }) => isInside(realPathOr(directory), real));
  const [first] = below;
  if (first) {
    throw new UsageError(
      `\`${word}\` holds ${below.length === 1 ? "a skill" : "skills"}, but isn't a skill itself.`,
      {
        hint: `Pass one, such as \`${word.replace(/\/+$/, "")}/${relative(real, realPathOr(first.directory))}\`.`,
      },
    );
  }
  const errors = catalog.diagnostics
    .filter(({ severity, path }) => severity === "error" && isInside(realPathOr(path), real))
    .map(({ message }) => safeLine(message));
  throw new UsageError([`\`${word}\` is not a runnable skill.`, ...errors].join(" "), {
    hint: `\`metier validate ${word}\` shows what is wrong with it.`,
  });
}

/** Only an address that leads to this very skill, since another may share its name. */
function addressOf({ catalog }: Metier, skill: Skill, word: string): string {
  const address = [skill.name, `${skill.scope}:${skill.name}`].find((one) => catalog.get(one) === skill);
  if (address !== undefined) return address;
  const other = catalog.get(`${skill.scope}:${skill.name}`)?.location ?? "";
  throw new UsageError(`\`${word}\` has the same name as the skill at \`${other}\`, which comes first.`, {
    hint: "Leave out the `--path` that adds it, or rename one of the two.",
  });
}

/** How to trust a skill that was named by its path. */
export function tellTrust(
  context: CliContext,
  { json, quiet }: { readonly json: boolean; readonly quiet: boolean },
  { trustWith }: Pick<OpenedSkill, "trustWith">,
): void {
  if (trustWith === undefined || json || quiet) return;
  err(context, `Not trusted: it sees only its own folder. To trust it: ${safeText(trustWith)}`);
}

/** What to type after `metier run` for a skill in `folder`. */
export async function pathToType({ io }: CliContext, folder: string): Promise<string> {
  const path = relative(io.cwd, folder);
  const isBelow = path !== "" && !path.startsWith("..") && !isAbsolute(path);
  const shown = isBelow ? `./${path}` : folder;
  if (/^[\w@%+=:,./-]+$/.test(shown)) return shown;
  const { quoteWord } = await import("@metier/sandbox"); // Rare enough to load on demand.
  return quoteWord(shown);
}
