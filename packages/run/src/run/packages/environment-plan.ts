/** What an environment is built from: the packages that a skill's folder locks, read and checked. Fetches nothing. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { type ContainedFault, openContained, showPath, withContained } from "@metier/base/files";
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";

/** The language whose packages a skill locks. */
export type EnvironmentKind = "node" | "python";

interface LockedPackage {
  readonly name: string;
  /** The URL in the lock file; without one, wherever the registry has it. */
  readonly url?: string | undefined;
}

export interface EnvironmentPlan {
  readonly kind: EnvironmentKind;
  /** The name of the file that locks the packages. */
  readonly lock: string;
  readonly packages: readonly LockedPackage[];
  /** All that the installer gets from the skill: name → content. */
  readonly files: Readonly<Record<string, string>>;
}

/** `undefined`: the skill needs no packages of this kind. The refusal says why they aren't installed. */
type PlanReading = Result<EnvironmentPlan | undefined, Diagnostic>;

const NOTHING_WANTED: PlanReading = done(undefined);

const MAX_BYTES = 16 * 1024 * 1024;

/** The text of a skill's file; `undefined` if it doesn't exist. */
function readSkillFile(folder: string, name: string): string | ContainedFault | undefined {
  const read = withContained(
    openContained(folder, name),
    ({ descriptor, stats }): string | ContainedFault => {
      if (stats.size <= MAX_BYTES) return readFileSync(descriptor, "utf8");
      const message = `\`${name}\` has ${stats.size} bytes; the limit is ${MAX_BYTES}.`;
      return { ok: false, reason: "too-large", message };
    },
  );
  return typeof read !== "string" && read.reason === "missing" ? undefined : read;
}

/** Why a skill's packages aren't installed. */
export function environmentFault(
  code: Extract<DiagnosticCode, `environment.${string}`>,
  path: string,
  message: string,
  hint: string,
  line?: number,
): Diagnostic {
  return { code, severity: "warning", path, message, hint, ...(line !== undefined && { line }) };
}

function unlocked(path: string, message: string, hint: string, line?: number): PlanReading {
  return refused(environmentFault("environment.unlocked", path, message, hint, line));
}

const MANIFEST = "package.json";
const LOCK = "package-lock.json";
/** A skill that needs packages has one of these. */
export const NODE_FILES: readonly string[] = [MANIFEST];
const MAKE_LOCK =
  "Run `npm install --package-lock-only` in the skill's folder, and ship the file with the skill.";

const MODULES = "node_modules/";
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]*)?$/;
const PACKAGE_NAME = /^(?:@[\w.~-]+\/)?[\w.~-]+$/;

/**
 * A skill's Node packages, from its `package.json` and `package-lock.json`. Only what npm fetches from a registry and
 * can check by digest is accepted: no links, folders, git repositories or packages without integrity.
 */
export function readNodePlan(folder: string): PlanReading {
  // A skill that ships its packages needs no others.
  if (existsSync(join(folder, "node_modules"))) return NOTHING_WANTED;
  const manifest = readSkillFile(folder, MANIFEST);
  if (manifest === undefined) return NOTHING_WANTED;
  const refuse = (name: string, what: string): PlanReading =>
    unlocked(join(folder, name), `Node packages are not installed: ${what}`, MAKE_LOCK);
  if (typeof manifest !== "string") return refuse(MANIFEST, manifest.message);
  const wanted = parseTable(manifest);
  if (wanted === undefined) return refuse(MANIFEST, `\`${MANIFEST}\` is not a JSON object.`);
  if (!wantsPackages(wanted)) return NOTHING_WANTED;
  const lock = readSkillFile(folder, LOCK);
  if (lock === undefined)
    return refuse(MANIFEST, `\`${MANIFEST}\` lists packages, but there is no \`${LOCK}\`.`);
  if (typeof lock !== "string") return refuse(LOCK, lock.message);
  const entries = parseTable(lock)?.packages;
  if (!isJsonObject(entries))
    return refuse(LOCK, `\`${LOCK}\` has no \`packages\`; npm 7 and later write it.`);
  const locked = readEntries(entries);
  if (typeof locked === "string") {
    const hint = "Use only packages from the registry; nothing in this lock file is installed.";
    const message = `Node packages are not installed: ${locked}`;
    return refused(environmentFault("environment.source", join(folder, LOCK), message, hint));
  }
  if (locked.length === 0) return NOTHING_WANTED;
  return done({ kind: "node", lock: LOCK, packages: locked, files: { [MANIFEST]: manifest, [LOCK]: lock } });
}

/** Development packages are left out: nobody develops the skill here. */
function wantsPackages({ dependencies, optionalDependencies }: JsonObject): boolean {
  return [dependencies, optionalDependencies].some(
    (list) => isJsonObject(list) && Object.keys(list).length > 0,
  );
}

/** The packages to fetch, or what is wrong with one of them. */
function readEntries(entries: JsonObject): readonly LockedPackage[] | string {
  const locked: LockedPackage[] = [];
  for (const [path, entry] of Object.entries(entries)) {
    if (path === "") continue; // The skill itself.
    if (!isJsonObject(entry)) return `${showPath(path)} in \`${LOCK}\` is not an object.`;
    if (entry.dev === true) continue;
    if (!isModulePath(path) || entry.link === true) return `${showPath(path)} is a folder, not a package.`;
    if (entry.inBundle === true) continue; // Comes with the package around it.
    const fault = whyNotFetched(entry);
    if (fault !== undefined) return `${showPath(path)} ${fault}`;
    const name = path.slice(path.lastIndexOf(MODULES) + MODULES.length);
    const url = typeof entry.resolved === "string" ? new URL(entry.resolved).href : undefined;
    locked.push({ name, url });
  }
  return locked;
}

/** npm can omit URLs: then name and version say what to request from the registry. */
function whyNotFetched({ resolved, version, name, integrity }: JsonObject): string | undefined {
  if (resolved === undefined) {
    const isPlain = typeof version === "string" && VERSION.test(version);
    const isNamed = name === undefined || (typeof name === "string" && PACKAGE_NAME.test(name));
    if (!(isPlain && isNamed)) return `has neither a URL nor a registry name and version.`;
  } else if (typeof resolved !== "string" || !/^https?:$/.test(URL.parse(resolved)?.protocol ?? "")) {
    return `comes from ${showPath(String(resolved))}, which is not a registry URL.`;
  }
  const isChecked = typeof integrity === "string" && /^sha(256|384|512)-/.test(integrity);
  return isChecked ? undefined : "has no `integrity` to check it against.";
}

function isModulePath(path: string): boolean {
  return path.startsWith(MODULES) && !path.split("/").some((part) => part === "" || part === "..");
}

function parseTable(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller reports it.
  }
}

const FILES = ["requirements.lock", "requirements.txt"];

/** From other tools; each can export the lines that are read here. */
const OTHER_LOCKS = ["uv.lock", "pylock.toml", "poetry.lock", "Pipfile.lock"];
/** A skill that needs packages has one of these. */
export const PYTHON_FILES: readonly string[] = [...FILES, ...OTHER_LOCKS];
const EXPORT =
  "Export it to `requirements.lock` with `uv export --no-dev`, `poetry export` or `pipenv requirements`.";

const PIN = "Write `name==1.2.3` for every package, including indirect ones; `pip freeze` prints such lines.";

/** A name, extras, one exact version, a marker, digests. */
const REQUIREMENT =
  /^(?<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?<extras>\s*\[[\w.,\s-]*\])?\s*===?\s*(?<version>[A-Za-z0-9][\w.!+-]*)(?<marker>\s*;(?:(?!\s--)[\w\s.,'"<>=!~()-])*?)?(?<hashes>(?:\s+--hash=sha(?:256|384|512):[0-9a-f]+)*)$/;

/**
 * A skill's Python packages, from its `requirements.lock` or `requirements.txt`: one exact version per line, with or
 * without digests. The installer gets only these lines, so no option, URL or path in the file takes effect.
 */
export function readPythonPlan(folder: string): PlanReading {
  // A skill that ships its packages needs no others.
  if (existsSync(join(folder, "python_modules"))) return NOTHING_WANTED;
  const lock = FILES.find((name) => existsSync(join(folder, name)));
  if (lock === undefined) return reportOtherLock(folder);
  const refuse = (what: string, line?: number): PlanReading =>
    unlocked(join(folder, lock), `Python packages are not installed: ${what}`, PIN, line);
  const text = readSkillFile(folder, lock);
  if (text === undefined) return NOTHING_WANTED;
  if (typeof text !== "string") return refuse(text.message);
  const packages: { readonly name: string }[] = [];
  const kept: string[] = [];
  for (const { content, line } of logicalLines(text)) {
    const name = REQUIREMENT.exec(content)?.groups?.name;
    if (name === undefined) return refuse(`${showPath(content)} is not one exact version.`, line);
    packages.push({ name });
    kept.push(`${content}\n`);
  }
  if (packages.length === 0) return NOTHING_WANTED;
  return done({ kind: "python", lock, packages, files: { "requirements.txt": kept.join("") } });
}

/** Without comments; a line that ends in a backslash continues on the next. */
function* logicalLines(text: string): Generator<{ readonly content: string; readonly line: number }> {
  let pending = "";
  let start = 1;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (pending === "") start = index + 1;
    const plain = raw.replace(/(?:^|\s)#.*$/, "");
    if (plain.endsWith("\\")) {
      pending += `${plain.slice(0, -1)} `;
      continue;
    }
    const content = tidy(pending + plain);
    pending = "";
    if (content !== "") yield { content, line: start };
  }
  const last = tidy(pending);
  if (last !== "") yield { content: last, line: start };
}

/** pip accepts more than line feeds as line ends: none of them is left. */
function tidy(line: string): string {
  return line.replace(/\s+/g, " ").trim();
}

function reportOtherLock(folder: string): PlanReading {
  const name = OTHER_LOCKS.find((other) => existsSync(join(folder, other)));
  if (name === undefined) return NOTHING_WANTED;
  const message = `Python packages are not installed: Metier does not read \`${name}\`, only \`${FILES.join("` and `")}\`.`;
  return unlocked(join(folder, name), message, EXPORT);
}
