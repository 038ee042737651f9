/** `metier publish` and `metier pack`: skills leave this machine as files, checked before. */
import { UsageError } from "../../foundation/errors.ts";
import type { PublishFault } from "../../publish/publish-outcome.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { packedText, publishedText, refusedText } from "../output/publish-text.ts";
import { styleFor } from "../output/style.ts";
import { PublishError } from "../publish-error.ts";

interface PublishFlags extends CommonFlags {
  readonly wellKnown?: string;
  readonly baseUrl?: string;
  readonly force: boolean;
  readonly dryRun: boolean;
}

export async function runPublish(
  context: CliContext,
  flags: PublishFlags,
  ...skills: readonly string[]
): Promise<void> {
  if (flags.wellKnown === undefined) {
    throw new UsageError("Where to is missing.", {
      hint: "Name the folder of the site with `--well-known <dir>`.",
    });
  }
  const metier = await openMetier(context, flags);
  const { publishSkills } = await import("../../publish/well-known/publish-skills.ts");
  const outcome = await publishSkills(metier, {
    skills,
    folder: flags.wellKnown,
    baseUrl: flags.baseUrl,
    profile: flags.profile,
    cwd: workingDirectory(context, flags),
    force: flags.force,
    dryRun: flags.dryRun,
  });
  if (!outcome.ok) throw refuse(context, flags, outcome.fault);
  const { ok: _, ...report } = outcome;
  if (flags.json) outJson(context, report);
  else out(context, publishedText(outcome, flags.dryRun, styleFor(context.io.color)));
}

interface PackFlags extends CommonFlags {
  readonly output?: string;
  readonly manifest?: string;
  readonly mcp?: string;
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly author?: string;
  readonly homepage?: string;
  readonly repository?: string;
  readonly license?: string;
  readonly keyword?: readonly string[];
  readonly force: boolean;
}

export async function runPack(
  context: CliContext,
  flags: PackFlags,
  ...skills: readonly string[]
): Promise<void> {
  const { output, manifest, mcp, author, keyword } = flags;
  if (output === undefined) {
    throw new UsageError("Where to is missing.", {
      hint: "Name a folder or a `.tar.gz` file with `-o <path>`.",
    });
  }
  const metier = await openMetier(context, flags);
  const { packPlugin } = await import("../../publish/plugin/pack-plugin.ts");
  const { readAuthor } = await import("../../publish/plugin/plugin-manifest.ts");
  const { name, version, description, homepage, repository, license, force } = flags;
  const outcome = await packPlugin(metier, {
    ...{ name, version, description, homepage, repository, license, force, skills, output },
    manifestFile: manifest,
    mcpFile: mcp,
    author: author === undefined ? undefined : readAuthor(author),
    profile: flags.profile,
    keywords: keyword && keyword.length > 0 ? keyword : undefined,
    cwd: workingDirectory(context, flags),
  });
  if (!outcome.ok) throw refuse(context, flags, outcome.fault);
  const { ok: _, ...report } = outcome;
  if (flags.json) outJson(context, report);
  else out(context, packedText(outcome, styleFor(context.io.color)));
}

/** What is wrong with each skill is said before the error that ends the command. */
function refuse(context: CliContext, { json }: CommonFlags, fault: PublishFault): PublishError {
  if (!json) err(context, refusedText(fault, styleFor(context.io.color)));
  return new PublishError(fault);
}
