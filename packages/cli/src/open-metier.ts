/**
 * Turns the options into a working directory, a caller, and a `Metier` for the command line: with bundled skills,
 * trust by grants, and no throwing.
 */
import { statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { isInside, realPathOr } from "@metier/base/places";
import { type Environment, outsideEnvironment } from "@metier/base/programs";
import type { Result } from "@metier/base/result";
import type { Caller } from "@metier/run";
import { createMetier, type Metier, type MetierOptions } from "@metier/runtime";
import {
  type FolderGrant,
  grantFolder,
  listTrustQuestions,
  type ProjectConfigFile,
  type Recorded,
  type TrustQuestion,
} from "@metier/skills/trust";
import type { CallerFlags, CommonFlags } from "./commands/define.ts";
import { type CliContext, err } from "./context.ts";
import { diagnosticsText } from "./output/diagnostics.ts";
import { styleFor } from "./output/style.ts";

export function workingDirectory({ io }: CliContext, { cwd }: CommonFlags): string {
  const folder = resolve(io.cwd, cwd ?? ".");
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`\`--cwd ${cwd}\` is not a folder.`, { hint: "Pass an existing folder." });
  }
  return folder;
}

/** The home folder: `--home`, then `METIER_HOME`, then the OS's. */
export function homeFolder({ io }: CliContext, { home }: CommonFlags): string | undefined {
  const folder = home ?? io.environment.METIER_HOME;
  return folder ? resolve(io.cwd, folder) : undefined;
}

/** Says at once which `--path` can't be used: most commands show only what they were asked for. */
export async function openMetier(
  context: CliContext,
  flags: CommonFlags,
  more: MetierOptions = {},
): Promise<Metier> {
  const metier = await openSilently(context, flags, more);
  tellUnusablePaths(context, flags, metier);
  return metier;
}

/** For a command that shows the catalog's errors itself, or must not print any. */
export function openSilently(
  context: CliContext,
  flags: CommonFlags,
  more: MetierOptions = {},
): Promise<Metier> {
  const cwd = workingDirectory(context, flags);
  return createMetier({
    cwd,
    environment: context.io.environment,
    trust: "grants",
    conflicts: "report",
    bundled: "unless-disabled",
    ...presentFields({
      home: homeFolder(context, flags),
      configFile: flags.config === undefined ? undefined : resolve(cwd, flags.config),
      preset: flags.preset,
      paths: givenPaths(context, flags),
      profile: flags.profile,
    }),
    ...more,
  });
}

/** The values of `--path`, absolute. */
function givenPaths(context: CliContext, flags: CommonFlags): readonly string[] | undefined {
  const cwd = workingDirectory(context, flags);
  return flags.path?.map((path) => resolve(cwd, path));
}

const UNUSABLE: ReadonlySet<string> = new Set([
  "source.missing",
  "source.not-a-directory",
  "source.unreadable",
]);

/** On stderr, so also with `--json`; once per command, however often it opens a catalog. */
export function tellUnusablePaths(context: CliContext, flags: CommonFlags, { catalog }: Metier): void {
  const given = givenPaths(context, flags) ?? [];
  if (given.length === 0) return;
  context.toldPaths ??= new Set();
  const told = context.toldPaths;
  const found = catalog.diagnostics.filter(
    ({ code, severity, path }) =>
      UNUSABLE.has(code) && severity === "error" && given.includes(path) && !told.has(path),
  );
  if (found.length === 0) return;
  for (const { path } of found) told.add(path);
  err(context, diagnosticsText(found, styleFor(context.io.color)));
}

/** The environment for programs that an action starts or looks for itself: no PATH entry leads into the project. */
export function ownEnvironment({ io }: CliContext, { project, places }: Metier): Environment {
  return outsideEnvironment(io.environment, { project: project.root, home: places.home });
}

/** On the command line, the machine's user asks, in private. */
export function readCaller({ user, chatType, chatId }: CallerFlags): Caller {
  const who = user === undefined ? { userId: userName(), isLocal: true } : { userId: user };
  return { ...who, chatType: chatType ?? "private", chatId: chatId ?? "cli" };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown"); // A user id without a name, as in some containers.
  }
}

/**
 * The first-use question: asked only in a terminal, until it is answered with yes or no. Without a terminal nothing is
 * trusted, and each skill's reason says how to change that. Returns the catalog after the answers.
 */
export async function askForTrust(context: CliContext, flags: CommonFlags, metier: Metier): Promise<Metier> {
  if (!context.io.interactive || flags.json) return metier;
  const questions = trustQuestions(metier);
  if (questions.length === 0) return metier;
  const { askAboutFolder } = await import("./actions/trust-question.ts");
  for (const question of questions) await askAboutFolder(context, metier, question);
  await metier.reload();
  return metier;
}

function trustQuestions(metier: Metier): readonly TrustQuestion[] {
  const projectConfig = projectConfigOf(metier);
  return listTrustQuestions({
    roots: metier.roots
      .filter(({ kind }) => kind === "vouched")
      .map(({ scope, path, grantFolder }) => ({
        scope,
        realPath: realPathOr(path),
        grantFolder: realPathOr(grantFolder),
        skills: metier.catalog.places.find((place) => place.path === path)?.skills ?? 0,
      })),
    projectFolder: realPathOr(metier.project.root),
    ...presentFields({ projectConfig }),
    folderGrants: metier.grants.folders,
    trustedPaths: metier.config.config.skills.trustedPaths.map(realPathOr),
  });
}

/** The project's current config file, to which a folder grant also binds. */
export function projectConfigOf({
  config,
  project,
}: Pick<Metier, "config" | "project">): ProjectConfigFile | undefined {
  const file = config.projectFile;
  if (file === undefined || !isInside(realPathOr(dirname(file.path)), realPathOr(project.root)))
    return undefined;
  return { path: file.path, digest: `sha256:${file.sha256}` };
}

/** Records a yes or no for a folder; a no to a changed config leaves the folder's trust as it is. */
export function recordFolder(
  { places }: Pick<Metier, "places">,
  { folder, config, about }: Pick<TrustQuestion, "folder" | "config" | "about">,
  decision: "trusted" | "denied",
): Result<Recorded<FolderGrant>, Diagnostic> {
  if (about === "config-changed" && decision === "denied") {
    return grantFolder(places, { path: folder, decision: "trusted", refusedConfigDigest: config?.digest });
  }
  const configDigest = decision === "trusted" ? config?.digest : undefined;
  return grantFolder(places, { path: folder, decision, configDigest });
}
