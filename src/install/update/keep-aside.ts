/**
 * What was changed by hand is kept when an update takes its place: a copy by its content, in a folder that nothing
 * searches and nobody tidies but the user.
 */
import { cpSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { folderName } from "../../host/folder-name.ts";
import { makeOwnedName, removeAbandoned } from "../../host/owned-names.ts";
import type { Places } from "../../host/places.ts";
import { removeFolder } from "../../host/remove-folder.ts";
import { stateOfCopy } from "../project-copy.ts";

const STAGED = { prefix: ".keeping-" };

/** The folder where the copy is. */
export function keepAside(
  places: Pick<Places, "state">,
  name: string,
  folder: string,
  digest: string,
): string {
  const all = join(places.state, "replaced");
  mkdirSync(all, { recursive: true, mode: 0o700 });
  const target = join(all, `${folderName(name)}@${digest.slice("sha256:".length).slice(0, 16)}`);
  const state = stateOfCopy(target, [digest]);
  if (state === "intact") return target;
  removeAbandoned(all, STAGED);
  const staged = join(all, makeOwnedName(STAGED));
  try {
    cpSync(folder, staged, { recursive: true, verbatimSymlinks: true });
    const place = state === "missing" ? target : `${target}-${Date.now()}`;
    renameSync(staged, place);
    return place;
  } finally {
    removeFolder(staged);
  }
}
