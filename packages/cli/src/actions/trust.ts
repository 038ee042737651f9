/** `metier trust`, `metier untrust`, `metier trust list`: records, withdraws and lists a user's decisions. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDigest } from "@metier/base/digest";
import { EXIT, SkillError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { expandPath, isInside, realPathOr } from "@metier/base/places";
import { safeLine } from "@metier/base/text";
import type { Metier } from "@metier/runtime";
import { parseSkillAddress, SKILL_FILE, type Skill } from "@metier/skills";
import { approveRemote, type Grants, grantSkill, identifyContent, revoke } from "@metier/skills/trust";
import type { Action, CommonFlags } from "../commands/define.ts";
import { type CliContext, endWith, reply } from "../context.ts";
import { openMetier, projectConfigOf, recordFolder, workingDirectory } from "../open-metier.ts";
import { count } from "../output/style.ts";
import { openSkill } from "./skill-path.ts";

export const trustAction: Action = async (context, flags, ...targets) => {
  const cwd = workingDirectory(context, flags);
  refuseMissingPaths(flags, cwd);
  const metier = await openMetier(context, flags);
  if (targets.length === 1 && targets[0] === "list") {
    showGrants(context, flags, metier.grants);
    return;
  }
  const granted: Granted[] = [];
  for (const target of targets.length > 0 ? targets : [metier.project.root]) {
    const unknown = findUnknownSkill(metier, target, cwd);
    if (unknown === undefined) granted.push(grant(metier, flags, target, cwd));
    else granted.push(await grantUnknown(context, flags, target, unknown));
  }
  reply(context, flags, { trusted: granted }, () => granted.map(({ text }) => text).join("\n"));
};

export const untrustAction: Action = async (context, flags, ...targets) => {
  const metier = await openMetier(context, flags, { autoDiscover: false });
  const cwd = workingDirectory(context, flags);
  const revoked = (targets.length > 0 ? targets : [metier.project.root]).map((target) =>
    takeBack(metier, target, cwd),
  );
  const folders = revoked.flatMap((grants) => grants.folders.map(({ path }) => path));
  const skills = revoked.flatMap((grants) => grants.skills.map(({ name, digest }) => ({ name, digest })));
  const lines = [...folders, ...skills.map(({ name }) => name)].map((what) => `Withdrawn: ${safeLine(what)}`);
  if (lines.length === 0) {
    endWith(context, EXIT.no);
    lines.push("Nothing to withdraw. `metier trust list` shows what is recorded.");
  }
  reply(context, flags, { folders, skills }, () => lines.join("\n"));
};

/** A grant lasts, so a mistyped `--path` must not lead to one for something else. */
function refuseMissingPaths({ path: paths = [] }: CommonFlags, cwd: string): void {
  const missing = paths.find((path) => !existsSync(resolve(cwd, path)));
  if (missing === undefined) return;
  throw new UsageError(`\`--path ${missing}\` does not exist, so nothing was trusted.`, {
    hint: "Pass an existing skill folder or file, or a folder of skills.",
  });
}

/** The folder of a skill outside all searched folders: trusted the way `metier run ./x` finds it. */
function findUnknownSkill({ catalog, places }: Metier, target: string, cwd: string): string | undefined {
  const path = expandPath(target, places.home, cwd);
  if (!looksLikePath(target) || !existsSync(join(path, SKILL_FILE))) return undefined;
  const isKnown = catalog.all.some(({ directory }) => realPathOr(directory) === realPathOr(path));
  return isKnown ? undefined : path;
}

async function grantUnknown(
  context: CliContext,
  flags: CommonFlags,
  target: string,
  path: string,
): Promise<Granted> {
  const { metier, address } = await openSkill(context, flags, path);
  try {
    const granted = grantOne(metier, metier.require(address));
    return { ...granted, text: `${granted.text}\n  Run it with \`metier run ${safeLine(target)}\`.` };
  } finally {
    await metier.capabilities.close();
  }
}

function looksLikePath(target: string): boolean {
  return /^[.~/]|[/\\]/.test(target);
}

interface Granted {
  readonly kind: "folder" | "skill";
  readonly target: string;
  readonly digest?: string;
  readonly files?: number;
  readonly text: string;
}

/** A folder on disk, or a skill name; a target that looks like a path is one. With `--path`, a bare name is a skill's. */
function grant(metier: Metier, flags: CommonFlags, target: string, cwd: string): Granted {
  const path = expandPath(target, metier.places.home, cwd);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const isSkill = !looksLikePath(target) && (flags.path !== undefined || metier.has(target));
  if (isSkill) return grantOne(metier, metier.require(target));
  if (!isFolder) {
    if (looksLikePath(target))
      throw new UsageError(`\`${target}\` is not a folder.`, { hint: "Pass a folder or a skill." });
    return grantOne(metier, metier.require(target));
  }
  const skill = metier.catalog.all.find(
    ({ directory, form }) => form === "directory" && realPathOr(directory) === realPathOr(path),
  );
  return skill ? grantOne(metier, skill) : grantWhole(metier, realPathOr(path));
}

function grantWhole(metier: Metier, folder: string): Granted {
  if (isInside(realPathOr(metier.places.home), folder)) {
    const message = `\`${folder}\` contains your home folder; trusting it would trust everything you ever clone.`;
    throw new UsageError(message, { hint: "Pass the project or skills folder you mean." });
  }
  refuseWithoutEffect(metier, folder);
  const config = folder === realPathOr(metier.project.root) ? projectConfigOf(metier) : undefined;
  const question = { folder, about: "new", ...presentFields({ config }) } as const;
  const outcome = recordFolder(metier, question, "trusted");
  if (!outcome.ok) throw new UsageError(outcome.refusal.message, { hint: outcome.refusal.hint });
  const also = config ? `, with ${config.path} as it is now` : "";
  // Skills from custom paths are trusted one by one: a folder grant covers a project or a user's folder.
  const foreign = metier.catalog.all.filter(
    ({ scope, directory }) => scope === "custom" && isInside(realPathOr(directory), folder),
  );
  const note =
    foreign.length > 0
      ? `\n  ${count(foreign.length, "skill")} from a custom path in it stay untrusted; use \`metier trust <skill>\` or \`skills.trusted-paths\`.`
      : "";
  return { kind: "folder", target: folder, text: `Trusted: the folder ${safeLine(folder + also)}${note}` };
}

/** Folders and files that make a folder a project, or that Metier reads in one. */
const PROJECT_MARKS = [".git", ".metier", ".agents", ".claude"];

/** A folder grant is for a project, or for a folder that is searched for skills. */
function refuseWithoutEffect({ roots, project }: Metier, folder: string): void {
  const searched = [project.root, ...roots.flatMap(({ path, grantFolder }) => [path, grantFolder])];
  const isSearched = searched.some((path) => {
    const real = realPathOr(path);
    return isInside(real, folder) || isInside(folder, real);
  });
  if (isSearched || PROJECT_MARKS.some((mark) => existsSync(join(folder, mark)))) return;
  throw new UsageError(
    `\`${folder}\` is not a project and is not searched for skills, so there is nothing to trust.`,
    {
      hint: "Pass a skill's folder in it (`metier trust ./folder/skill`), or add it to `skills.trusted-paths` in your config.",
    },
  );
}

/** For a server's skill, what the server declares counts; nothing of it has to be on this machine. */
function grantOne(metier: Metier, skill: Skill): Granted {
  if (skill.remote) {
    const { server, files } = skill.remote;
    const { digest } = approveRemote(metier.places, skill.name, skill.remote);
    const text = `Approved: ${skill.name} from the MCP server ${server}, ${count(files.length, "file")} as declared now (${digest})`;
    return { kind: "skill", target: skill.name, digest, files: files.length, text: safeLine(text) };
  }
  const outcome = identifyContent(skill);
  if (!outcome.ok)
    throw new SkillError(outcome.refusal.message, "skill.load", { hint: outcome.refusal.hint });
  const identity = outcome.value;
  grantSkill(metier.places, { name: skill.name, location: skill.location, identity });
  const { digest, files } = identity;
  const text = `Trusted: ${skill.name} at ${skill.location}, ${count(files.length, "file")} as they are now (${digest})`;
  return { kind: "skill", target: skill.name, digest, files: files.length, text: safeLine(text) };
}

function takeBack({ places }: Metier, target: string, cwd: string): Grants {
  if (isDigest(target)) return revoke(places, { digest: target }).revoked;
  const byName = revoke(places, { skill: parseSkillAddress(target).name }).revoked;
  if (byName.skills.length > 0) return byName;
  return revoke(places, { folder: resolve(expandPath(target, places.home, cwd)) }).revoked;
}

function showGrants(context: CliContext, flags: CommonFlags, { folders, skills }: Grants): void {
  const counted = skills.map(({ files, ...rest }) => ({ ...rest, files: files.length }));
  const lines = [
    ...folders.map(
      ({ path, decision, configDigest }) =>
        `folder  ${decision}  ${path}${configDigest ? "  (with its config)" : ""}`,
    ),
    ...skills.map(({ name, location, digest }) => `skill   trusted  ${name}  ${location}  ${digest}`),
  ];
  const none = "Nothing recorded yet. `metier trust` trusts this project.";
  reply(context, flags, { folders, skills: counted }, () => lines.map(safeLine).join("\n") || none);
}
