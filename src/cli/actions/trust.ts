/** `metier trust`, `metier untrust`, `metier trust list`: a user's decisions, recorded and taken back. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { SkillError, UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import { expandPath, isInside } from "../../host/places.ts";
import { realPathOr } from "../../host/project-folders.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import { projectConfigOf, recordFolder } from "../../runtime/grant-trust.ts";
import { parseSkillAddress } from "../../skill/scope.ts";
import type { Skill } from "../../skill/skill.ts";
import { identifyContent } from "../../trust/content-identity.ts";
import { grantSkill, revoke } from "../../trust/grant-store.ts";
import type { Grants } from "../../trust/grants.ts";
import { approveRemote } from "../../trust/remote-trust.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, out, outJson } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { count, safeLine } from "../output/style.ts";

export async function runTrust(
  context: CliContext,
  flags: CommonFlags,
  ...targets: readonly string[]
): Promise<void> {
  const metier = await openMetier(context, flags);
  if (targets.length === 1 && targets[0] === "list") {
    showGrants(context, flags, metier.grants);
    return;
  }
  const granted = (targets.length > 0 ? targets : [metier.project.root]).map((target) =>
    grant(metier, target, workingDirectory(context, flags)),
  );
  if (flags.json) outJson(context, { trusted: granted });
  else out(context, granted.map(({ text }) => text).join("\n"));
}

export async function runUntrust(
  context: CliContext,
  flags: CommonFlags,
  ...targets: readonly string[]
): Promise<void> {
  const metier = await openMetier(context, flags, { autoDiscover: false });
  const cwd = workingDirectory(context, flags);
  const revoked = (targets.length > 0 ? targets : [metier.project.root]).map((target) =>
    takeBack(metier, target, cwd),
  );
  const folders = revoked.flatMap((grants) => grants.folders.map(({ path }) => path));
  const skills = revoked.flatMap((grants) => grants.skills.map(({ name, digest }) => ({ name, digest })));
  if (folders.length + skills.length === 0) endWith(context, EXIT.no);
  if (flags.json) outJson(context, { folders, skills });
  else if (folders.length + skills.length === 0)
    out(context, "Nothing of that was recorded; `metier trust list` shows what is.");
  else
    out(
      context,
      [...folders, ...skills.map(({ name }) => name)]
        .map((what) => `No longer recorded: ${safeLine(what)}`)
        .join("\n"),
    );
}

interface Granted {
  readonly kind: "folder" | "skill";
  readonly target: string;
  readonly digest?: string;
  readonly files?: number;
  readonly text: string;
}

/** A folder on disk, or the name of a skill; what looks like a path is one. */
function grant(metier: Metier, target: string, cwd: string): Granted {
  const path = expandPath(target, metier.places.home, cwd);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const looksLikePath = /^[.~/]|[/\\]/.test(target);
  if (!looksLikePath && metier.has(target)) return grantOne(metier, metier.require(target));
  if (!isFolder) {
    if (looksLikePath)
      throw new UsageError(`\`${target}\` is not a folder.`, { hint: "Name a folder or a skill." });
    return grantOne(metier, metier.require(target));
  }
  const skill = metier.catalog.all.find(
    ({ directory, form }) => form === "directory" && realPathOr(directory) === realPathOr(path),
  );
  return skill ? grantOne(metier, skill) : grantWhole(metier, realPathOr(path));
}

function grantWhole(metier: Metier, folder: string): Granted {
  if (isInside(realPathOr(metier.places.home), folder)) {
    throw new UsageError(
      `\`${folder}\` holds your home folder: trusting it would trust everything you ever clone.`,
      {
        hint: "Name the project or skills folder you mean.",
      },
    );
  }
  const config = projectConfigOf(metier);
  const covered =
    config && isInside(realPathOr(metier.project.root), folder) && folder === realPathOr(metier.project.root);
  const outcome = recordFolder(metier, { folder, about: "new", ...(covered && { config }) }, "trusted");
  if (!outcome.ok) throw new UsageError(outcome.diagnostic.message, { hint: outcome.diagnostic.hint });
  const also = covered ? `, with ${config.path} as it is now` : "";
  // Skills of custom paths are trusted one by one: a folder's grant is for a project or a user's folder.
  const foreign = metier.catalog.all.filter(
    ({ scope, directory }) => scope === "custom" && isInside(realPathOr(directory), folder),
  );
  const note =
    foreign.length > 0
      ? `\n  ${count(foreign.length, "skill")} of a custom path in it stay untrusted; use \`metier trust <skill>\` or \`skills.trusted-paths\`.`
      : "";
  return { kind: "folder", target: folder, text: `Trusted: the folder ${safeLine(folder + also)}${note}` };
}

/** Of a server's skill what the server declares counts; nothing of it has to be here. */
function grantOne(metier: Metier, skill: Skill): Granted {
  if (skill.remote) {
    const { server, files } = skill.remote;
    const { digest } = approveRemote(metier.places, skill.name, skill.remote);
    const text = `Approved: ${skill.name} of the MCP server ${server}, ${count(files.length, "file")} as it declares them now (${digest})`;
    return { kind: "skill", target: skill.name, digest, files: files.length, text: safeLine(text) };
  }
  const outcome = identifyContent(skill);
  if (!outcome.ok)
    throw new SkillError(outcome.diagnostic.message, "skill.load", { hint: outcome.diagnostic.hint });
  const { identity } = outcome;
  grantSkill(metier.places, { name: skill.name, location: skill.location, identity });
  const text = `Trusted: ${skill.name} at ${skill.location}, ${count(identity.files.length, "file")} as they are now (${identity.digest})`;
  return {
    kind: "skill",
    target: skill.name,
    digest: identity.digest,
    files: identity.files.length,
    text: safeLine(text),
  };
}

function takeBack({ places }: Metier, target: string, cwd: string): Grants {
  if (/^sha256:[0-9a-f]{64}$/.test(target)) return revoke(places, { digest: target }).revoked;
  const byName = revoke(places, { skill: parseSkillAddress(target).name }).revoked;
  if (byName.skills.length > 0) return byName;
  return revoke(places, { folder: resolve(expandPath(target, places.home, cwd)) }).revoked;
}

function showGrants(context: CliContext, { json }: CommonFlags, { folders, skills }: Grants): void {
  if (json) {
    outJson(context, {
      folders,
      skills: skills.map(({ files, ...rest }) => ({ ...rest, files: files.length })),
    });
    return;
  }
  const lines = [
    ...folders.map(
      ({ path, decision, configDigest }) =>
        `folder  ${decision}  ${path}${configDigest ? "  (with its config)" : ""}`,
    ),
    ...skills.map(({ name, location, digest }) => `skill   trusted  ${name}  ${location}  ${digest}`),
  ];
  out(
    context,
    lines.length > 0
      ? lines.map(safeLine).join("\n")
      : "Nothing is recorded yet; `metier trust` trusts this project.",
  );
}
