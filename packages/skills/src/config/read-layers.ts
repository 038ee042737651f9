/** Finds, reads and checks each layer separately. Merges nothing. */

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { ConfigError } from "@metier/base/errors";
import { expandPath, isOwnFolder, type Places, projectFolders, realPathOr } from "@metier/base/places";
import { forReader } from "@metier/base/text";
import { presetLayout } from "../clients/clients.ts";
import type { Layer, LayerReport, PresetName, ProjectFile } from "./config.ts";
import { type ConfigReading, readConfigFile } from "./formats/config-document.ts";
import { type LayerReading, readAssignments } from "./read-assignments.ts";

interface ReadLayer extends LayerReading {
  readonly report: LayerReport;
}

export interface ProjectLayer extends ReadLayer {
  readonly file?: ProjectFile;
}

/** What the project layer needs: a file by name, or the nearest one, and who grants it. */
interface ProjectRequest {
  readonly cwd: string;
  readonly places: Places;
  readonly configFile?: string | undefined;
  projectGrant?(file: string, sha256: string): boolean;
}

export async function readUserLayer(places: Places): Promise<ReadLayer> {
  const read = await readFileLayer("user", places.configFile, places.home);
  const others = configFilesIn(places.home).filter((file) => file !== places.configFile);
  return {
    ...read,
    diagnostics: [...read.diagnostics, ...others.map((file) => reportNotRead(file, places))],
  };
}

/** A preset's own values, then the config files of its system. */
export async function readPresetLayers(preset: PresetName, home: string): Promise<readonly ReadLayer[]> {
  const { order, defaultExecution, configFiles } = presetLayout(preset);
  const own = readAssignments({
    layer: "preset",
    where: preset,
    values: { skills: { order, "default-execution": defaultExecution } },
    context: { home, base: home },
  });
  const files = configFiles.map(({ path, sections }) =>
    readFileLayer("preset", expandPath(path, home, home), home, sections),
  );
  return [
    { ...own, report: { layer: "preset", where: preset, status: "loaded" } },
    ...(await Promise.all(files)),
  ];
}

export async function readProjectLayer(request: ProjectRequest): Promise<ProjectLayer> {
  const { cwd, places, configFile } = request;
  if (configFile !== undefined) return readNamedFile(expandPath(configFile, places.home, cwd), places);
  const { file, diagnostics } = findProjectFile(cwd, places.home);
  if (file === undefined) return { ...absentLayer("project", join(cwd, ".metier", "config.*")), diagnostics };
  const reading = await readConfigFile(file);
  const read = toLayer("project", file, places.home, reading);
  const layer = { ...read, diagnostics: [...diagnostics, ...read.diagnostics] };
  if (reading.status !== "loaded") return layer;
  const sha256 = await digestOf(reading.bytes);
  const granted = request.projectGrant?.(file, sha256) ?? false;
  return { ...layer, file: { path: file, sha256, granted } };
}

/** A file that the user named must be usable; otherwise the command ends. */
async function readNamedFile(file: string, places: Places): Promise<ProjectLayer> {
  if (realPathOr(file) === realPathOr(places.configFile)) return absentLayer("project", file);
  const reading = await readConfigFile(file);
  if (reading.status === "absent") {
    const hint = forReader({
      command: "Fix the path, or remove `--config` to use the project's own file.",
      program: "Fix the path, or remove `configFile` to use the project's own file.",
    });
    throw new ConfigError(`The config file \`${file}\` does not exist.`, file, { hint });
  }
  if (reading.status === "broken") throw toConfigError(reading.diagnostic);
  const sha256 = await digestOf(reading.bytes);
  return { ...toLayer("project", file, places.home, reading), file: { path: file, sha256, granted: true } };
}

/** A policy that cannot be read cannot be obeyed, so nothing continues without it. */
export async function readPolicyLayer(file: string, home: string): Promise<ReadLayer> {
  const reading = await readConfigFile(file);
  if (reading.status === "broken")
    throw toConfigError(reading.diagnostic, "Ask the administrator of this machine.");
  return toLayer("policy", file, home, reading);
}

async function readFileLayer(
  layer: Layer,
  file: string,
  home: string,
  sections?: readonly string[],
): Promise<ReadLayer> {
  return toLayer(layer, file, home, await readConfigFile(file), sections);
}

function toLayer(
  layer: Layer,
  where: string,
  home: string,
  reading: ConfigReading,
  sections?: readonly string[],
): ReadLayer {
  const report = { layer, where, status: reading.status };
  if (reading.status === "absent") return { assignments: [], diagnostics: [], report };
  if (reading.status === "broken") return { assignments: [], diagnostics: [reading.diagnostic], report };
  const { values, locate } = reading.document;
  const context = { home, base: baseOf(where) };
  return { ...readAssignments({ layer, where, values, locate, context, sections }), report };
}

/** The base of a file's relative paths: its folder, or the folder that contains `.metier`. */
function baseOf(file: string): string {
  const folder = dirname(file);
  return basename(folder) === ".metier" ? dirname(folder) : folder;
}

function absentLayer(layer: Layer, where: string): ReadLayer {
  return { assignments: [], diagnostics: [], report: { layer, where, status: "absent" } };
}

async function digestOf(bytes: Buffer): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(bytes).digest("hex");
}

function toConfigError({ message, path, hint }: Diagnostic, otherHint = hint): ConfigError {
  return new ConfigError(message, path, { hint: otherHint });
}

function reportNotRead(file: string, { configFile }: Places): Diagnostic {
  const message = `\`${file}\` is ignored: the user file is TOML, at \`${configFile}\`.`;
  const hint = "Move its settings there; only a project's file may be YAML or JSON.";
  return { code: "config.not-read", severity: "warning", message, path: file, hint };
}

/** If several exist, the first of these is read. */
const CONFIG_FILE_NAMES = ["config.toml", "config.yaml", "config.yml", "config.json"] as const;

interface FoundProjectFile {
  readonly file?: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** The project's config file: the nearest `.metier/config.*` in the project folders. */
function findProjectFile(cwd: string, home: string): FoundProjectFile {
  const { folders, foreign } = projectFolders(cwd, home);
  const diagnostics: Diagnostic[] = foreign.flatMap((folder) => configFilesIn(folder).map(reportForeign));
  for (const folder of folders) {
    const files = configFilesIn(folder);
    const own = files.filter((file) => isOwnFolder(join(folder, ".metier")) && isOwnFolder(file));
    diagnostics.push(...files.filter((file) => !own.includes(file)).map(reportForeign));
    const [file, ...others] = own;
    if (file === undefined) continue;
    if (others.length > 0) diagnostics.push(reportTwoFiles(file, others));
    return { file, diagnostics };
  }
  return { diagnostics };
}

/** A project folder's config files, the one in use first. */
function configFilesIn(folder: string): readonly string[] {
  const directory = join(folder, ".metier");
  try {
    const names = new Set(readdirSync(directory));
    return CONFIG_FILE_NAMES.filter((name) => names.has(name)).map((name) => join(directory, name));
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    // A folder that cannot be listed may contain a file; reading it then says what is wrong.
    return code === "ENOENT" || code === "ENOTDIR" ? [] : [join(directory, CONFIG_FILE_NAMES[0])];
  }
}

function reportForeign(file: string): Diagnostic {
  const message = `The config file \`${file}\` is ignored: the file or its folder belongs to another user.`;
  const hint = forReader({
    command: "Copy the project to your own folder, or name the file with `--config`.",
    program: "Copy the project to your own folder, or name the file with `configFile`.",
  });
  return { code: "config.foreign-owner", severity: "warning", message, path: file, hint };
}

function reportTwoFiles(file: string, others: readonly string[]): Diagnostic {
  const shown = others.map((other) => `\`${other}\``).join(", ");
  const message = `\`${file}\` is used, and ${shown} next to it is ignored.`;
  const hint = `Keep one of them. The order is ${CONFIG_FILE_NAMES.join(", ")}.`;
  return { code: "config.two-files", severity: "warning", message, path: file, hint };
}
