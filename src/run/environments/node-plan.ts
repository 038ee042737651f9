/**
 * The Node packages of a skill, by its `package.json` and `package-lock.json`. Only what npm fetches from a registry and
 * can check by its digest is taken: no links, folders, git repositories or packages without an integrity.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { showPath } from "../../host/contained-path.ts";
import { environmentFault, type LockedPackage, type PlanReading, readSkillFile } from "./environment-plan.ts";

const MANIFEST = "package.json";
const LOCK = "package-lock.json";
/** One of them is there where a skill wants packages. */
export const NODE_FILES: readonly string[] = [MANIFEST];
const MAKE_LOCK =
  "Run `npm install --package-lock-only` in the skill's folder, and keep the file with the skill.";

const MODULES = "node_modules/";
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]*)?$/;
const PACKAGE_NAME = /^(?:@[\w.~-]+\/)?[\w.~-]+$/;

type Table = Readonly<Record<string, unknown>>;

export function readNodePlan(folder: string): PlanReading {
  // A skill that brings its packages along needs no others.
  if (existsSync(join(folder, "node_modules"))) return undefined;
  const manifest = readSkillFile(folder, MANIFEST);
  if (manifest === undefined) return undefined;
  const refuse = (name: string, what: string): PlanReading =>
    environmentFault(
      "environment.unlocked",
      join(folder, name),
      `Node packages are not installed: ${what}`,
      MAKE_LOCK,
    );
  if (typeof manifest !== "string") return refuse(MANIFEST, manifest.message);
  const wanted = parseTable(manifest);
  if (wanted === undefined) return refuse(MANIFEST, `\`${MANIFEST}\` is no JSON object.`);
  if (!wantsPackages(wanted)) return undefined;
  const lock = readSkillFile(folder, LOCK);
  if (lock === undefined) return refuse(MANIFEST, `\`${MANIFEST}\` names some, but there is no \`${LOCK}\`.`);
  if (typeof lock !== "string") return refuse(LOCK, lock.message);
  const entries = parseTable(lock)?.packages;
  if (!isTable(entries)) return refuse(LOCK, `\`${LOCK}\` has no \`packages\`, as npm 7 and later write it.`);
  const locked = readEntries(entries);
  if (typeof locked === "string") {
    const hint = "Use packages of the registry alone; nothing of this lock file is installed.";
    const message = `Node packages are not installed: ${locked}`;
    return environmentFault("environment.source", join(folder, LOCK), message, hint);
  }
  if (locked.length === 0) return undefined;
  return { kind: "node", lock: LOCK, packages: locked, files: { [MANIFEST]: manifest, [LOCK]: lock } };
}

/** Packages for development are left out: nobody develops the skill here. */
function wantsPackages({ dependencies, optionalDependencies }: Table): boolean {
  return [dependencies, optionalDependencies].some((list) => isTable(list) && Object.keys(list).length > 0);
}

/** The packages to fetch, or what is wrong with one of them. */
function readEntries(entries: Table): readonly LockedPackage[] | string {
  const locked: LockedPackage[] = [];
  for (const [path, entry] of Object.entries(entries)) {
    if (path === "") continue; // The skill itself.
    if (!isTable(entry)) return `${showPath(path)} of \`${LOCK}\` is no object.`;
    if (entry.dev === true) continue;
    if (!isModulePath(path) || entry.link === true) return `${showPath(path)} is a folder, not a package.`;
    if (entry.inBundle === true) continue; // Comes with the package around it.
    const fault = whyNotFetched(entry);
    if (fault !== undefined) return `${showPath(path)} ${fault}`;
    const name = path.slice(path.lastIndexOf(MODULES) + MODULES.length);
    locked.push({ name, ...(typeof entry.resolved === "string" && { url: new URL(entry.resolved).href }) });
  }
  return locked;
}

/** npm can be told to leave addresses out: then name and version say what the registry is asked for. */
function whyNotFetched({ resolved, version, name, integrity }: Table): string | undefined {
  if (resolved === undefined) {
    const isPlain = typeof version === "string" && VERSION.test(version);
    const isNamed = name === undefined || (typeof name === "string" && PACKAGE_NAME.test(name));
    if (!(isPlain && isNamed)) return `has neither an address nor a name and version of a registry.`;
  } else if (typeof resolved !== "string" || !/^https?:$/.test(URL.parse(resolved)?.protocol ?? "")) {
    return `comes from ${showPath(String(resolved))}, which is no address of a registry.`;
  }
  const isChecked = typeof integrity === "string" && /^sha(256|384|512)-/.test(integrity);
  return isChecked ? undefined : "has no `integrity` by which it could be checked.";
}

function isModulePath(path: string): boolean {
  return path.startsWith(MODULES) && !path.split("/").some((part) => part === "" || part === "..");
}

function parseTable(text: string): Table | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : undefined;
  } catch {
    return undefined; // The caller says that it is none.
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
