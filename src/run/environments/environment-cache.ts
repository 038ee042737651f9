/**
 * Where installed packages are kept: a folder for each environment, named after all that decides what is in it. A folder
 * appears there whole, by a rename: what a killed installation leaves is never used, and of several at the same time the
 * first one counts. What nobody used for long is removed.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "../../host/places.ts";
import { digestBytes } from "../../trust/identify-file.ts";
import type { EnvironmentPlan } from "./environment-plan.ts";

/** Raise when the same lock makes another environment. */
const FORMAT = 1;
const BUILDING = "building-";
const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const BUILDING_ENDS_AFTER_MS = 2 * HOUR;
const UNUSED_AFTER_MS = 90 * DAY;

/** Where the packages of a plan are, or will be. */
export function environmentFolder(places: Places, plan: EnvironmentPlan, runtime: string): string {
  const identity = JSON.stringify([FORMAT, plan.kind, runtime, plan.files]);
  return join(cacheFolder(places), digestBytes(identity).replace(/^sha256:/, ""));
}

/** Whether the packages are there; noted as a use of them. */
export function useEnvironment(folder: string): boolean {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
    return true;
  } catch {
    return statSync(folder, { throwIfNoEntry: false }) !== undefined; // There, though not ours to touch.
  }
}

/** A new folder, by its real path, that nothing but one installation writes to. */
export function makeBuildFolder(places: Places): string {
  const cache = cacheFolder(places);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  removeOld(cache);
  const folder = join(realpathSync(cache), `${BUILDING}${randomBytes(8).toString("hex")}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** A folder of that name is another installation of the same packages that was faster. */
export function keepEnvironment(built: string, folder: string): void {
  try {
    renameSync(built, folder);
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw fault;
  }
}

export function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // A later installation tries again.
  }
}

function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > (name.startsWith(BUILDING) ? BUILDING_ENDS_AFTER_MS : UNUSED_AFTER_MS)) discard(path);
  }
}

function cacheFolder({ cache }: Places): string {
  return join(cache, "environments");
}
