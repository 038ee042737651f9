/** `metier new`: a skill that is valid from its first minute. Never overwrites anything. */
import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { validatePaths } from "../../catalog/validate-paths.ts";
import { SkillValidationError, UsageError } from "../../foundation/errors.ts";
import { metierPlaces } from "../../host/places.ts";
import { projectFolders } from "../../host/project-folders.ts";
import { isSkillName, normaliseSkillName } from "../../skill/skill-name.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, out, outJson } from "../context.ts";
import type { TemplateName } from "../new-skill/template-names.ts";
import { defaultDescription, templateFiles } from "../new-skill/templates.ts";
import { homeFolder, workingDirectory } from "../open-metier.ts";
import { safeLine } from "../output/style.ts";

interface NewFlags {
  readonly template: TemplateName;
  readonly description?: string;
  readonly project?: boolean;
  readonly user?: boolean;
}

export async function run(context: CliContext, flags: NewFlags & CommonFlags, name: string): Promise<void> {
  requireName(name);
  const folder = join(targetFolder(context, flags), name);
  if (lstatSync(folder, { throwIfNoEntry: false })) {
    throw new UsageError(`\`${folder}\` exists already.`, {
      hint: "Choose another name, or remove it first.",
    });
  }
  const files = templateFiles(flags.template, {
    name,
    description: flags.description ?? defaultDescription(name),
  });
  try {
    for (const { path, content, executable } of files) {
      const file = join(folder, path);
      // The user's own folder is for the user alone; a project's is as the project's others are.
      mkdirSync(dirname(file), { recursive: true, ...(flags.user && { mode: 0o700 }) });
      writeFileSync(file, content, { flag: "wx" });
      if (executable) chmodSync(file, 0o755);
    }
    await requireValid(name, folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true }); // Nothing half-made stays; the folder was ours.
    throw error;
  }
  const written = files.map(({ path }) => join(folder, path));
  if (flags.json) outJson(context, { name, path: folder, files: written });
  else {
    out(context, ["Created", ...written.map((file) => safeLine(`  ${file}`))].join("\n"));
    out(context, safeLine(`Next: write it, then \`metier validate --strict ${folder}\`.`));
  }
}

function requireName(name: string): void {
  if (isSkillName(name)) return;
  const better = normaliseSkillName(name);
  throw new UsageError(
    `\`${name}\` cannot be a skill's name: lower-case letters, digits and single hyphens, at most 64 characters.`,
    better ? { hint: `Use \`${better}\`.` } : {},
  );
}

function targetFolder(context: CliContext, flags: NewFlags & CommonFlags): string {
  if (flags.project && flags.user) throw new UsageError("`--project` and `--user` exclude each other.");
  const cwd = workingDirectory(context, flags);
  const places = metierPlaces(homeFolder(context, flags));
  if (flags.user) return places.skills;
  return flags.project ? join(projectFolders(cwd, places.home).root, ".metier", "skills") : cwd;
}

/** A description given on the command line may be too long or empty: better said now than found later. */
async function requireValid(name: string, folder: string): Promise<void> {
  const report = await validatePaths([folder], "strict");
  if (report.valid) return;
  const errors = report.results.flatMap(({ diagnostics }) =>
    diagnostics.filter(({ severity }) => severity === "error"),
  );
  throw new SkillValidationError(
    name,
    errors.map(({ message }) => message),
  );
}
