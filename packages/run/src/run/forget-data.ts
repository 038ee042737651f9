/**
 * Deletes what is kept for a user: skills' data folders, the folders in which their commands ran, and the user's own
 * runs.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { folderName, tryToRemove } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { listRuns, type RunSummary } from "../events/kept-runs.ts";
import { runFolder } from "../events/run-log.ts";
import { ownerOf } from "../invoke/invocation.ts";

type DataPlaces = Pick<Places, "data" | "state" | "runs">;

interface ForgottenUser {
  readonly userId: string;
  readonly tenantId?: string | undefined;
}

/** Of one user, in all skills. */
export function forgetUserData(places: DataPlaces, user: ForgottenUser): void {
  const owner = ownerOf(user) ?? "";
  const name = `user-${folderName(owner)}`;
  removeWhere(places, (other) => other === name);
  forgetRuns(places, ({ userId }) => userId === owner);
}

/** Of all users of a tenant. Tenant ids are plain, so the names of their users' folders share a prefix. */
export function forgetTenantData(places: DataPlaces, tenantId: string): void {
  const [start = ""] = folderName(ownerOf({ tenantId, userId: "" }) ?? "").split("@");
  removeWhere(places, (other) => other.startsWith(`user-${start}`));
  forgetRuns(places, (run) => run.tenantId === tenantId);
}

/** As their logs say. A run whose log can't be read is removed when it is old. */
function forgetRuns(places: DataPlaces, isMeant: (run: RunSummary) => boolean): void {
  const ids = listRuns(places).filter(isMeant);
  for (const { runId } of ids) tryToRemove(runFolder(places, runId).folder);
}

function removeWhere({ data, state }: DataPlaces, isMeant: (name: string) => boolean): void {
  const skills = namesIn(data).map((name) => join(data, name));
  for (const folder of [...skills, join(state, "dynamic-context")]) {
    for (const name of namesIn(folder)) if (isMeant(name)) tryToRemove(join(folder, name));
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Nothing was kept there.
  }
}
