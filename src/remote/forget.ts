/** Takes back what was decided and kept of an MCP server's skills. Asks nobody; the server stays configured. */
import { existsSync } from "node:fs";
import type { Places } from "../host/places.ts";
import { removeFolder } from "../host/remove-folder.ts";
import type { RemoteOrigin } from "../skill/skill.ts";
import { revokeLocations } from "../trust/grant-store.ts";
import { remoteLocation } from "../trust/remote-trust.ts";
import { readIndex } from "./remote-index.ts";
import { serverFolder, skillFolder } from "./remote-places.ts";

type ForgetPlaces = Pick<Places, "cache" | "grantsFile">;

export interface ForgottenSkills {
  /** Names of the skills whose approval was taken back. */
  readonly approvals: readonly string[];
  /** Whether files or a list had been kept. */
  readonly isRemoved: boolean;
}

export function forgetSkill(places: ForgetPlaces, remote: RemoteOrigin): ForgottenSkills {
  const location = remoteLocation(remote);
  const read = readIndex(places, remote.server);
  const known = read.ok ? read.index.skills.find(({ entry }) => entry.uri === remote.uri) : undefined;
  const isRemoved = known !== undefined && remove(skillFolder(places, remote.server, known.entry));
  return { approvals: takeBack(places, (other) => other === location), isRemoved };
}

export function forgetServer(places: ForgetPlaces, label: string): ForgottenSkills {
  const prefix = remoteLocation({ server: label, uri: "" });
  const isRemoved = remove(serverFolder(places, label));
  return { approvals: takeBack(places, (location) => location.startsWith(prefix)), isRemoved };
}

function takeBack(places: ForgetPlaces, goes: (location: string) => boolean): readonly string[] {
  return revokeLocations(places, goes).map(({ name }) => name);
}

function remove(folder: string): boolean {
  const isThere = existsSync(folder);
  if (isThere) removeFolder(folder);
  return isThere;
}
