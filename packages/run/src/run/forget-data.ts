/** What skills keep for users goes with the user: their data folders, and those in which their skills' commands were run. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { folderName, tryToRemove } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { ownerOf } from "../invoke/invocation.ts";

type DataPlaces = Pick<Places, "data" | "state">;

interface ForgottenUser {
  readonly userId: string;
  readonly tenantId?: string | undefined;
}

/** Of one user, in all skills. */
export function forgetUserData(places: DataPlaces, user: ForgottenUser): void {
  const name = `user-${folderName(ownerOf(user) ?? "")}`;
  removeWhere(places, (other) => other === name);
}

/** Of all users of a tenant. Ids of tenants are plain, so that the names of their users' folders begin alike. */
export function forgetTenantData(places: DataPlaces, tenantId: string): void {
  const [start = ""] = folderName(ownerOf({ tenantId, userId: "" }) ?? "").split("@");
  removeWhere(places, (other) => other.startsWith(`user-${start}`));
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
