/**
 * Which folders of other clients a skill goes into: those it is in already, and those that are asked for. Decided before the
 * lock is replaced, which then records them; a place where something else stands is left out, with the reason.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { calledAs, type Lock, type LockEntry, type PlacedCopy } from "../lock/lock-entry.ts";
import { type LockFile, placedFolder } from "../lock/lock-places.ts";
import { type Client, clientPath, findClient } from "./clients.ts";
import type { InstallParts, InstallRequest } from "./install-request.ts";
import { stateOfPlace } from "./place-state.ts";

export interface PlacesContext {
  readonly request: Pick<InstallRequest, "agents" | "copy" | "force">;
  readonly parts: Pick<InstallParts, "places">;
  readonly lockFile: LockFile;
  readonly lock: Lock;
}

export interface PlannedPlaces {
  readonly entry: LockEntry;
  readonly notes: readonly Diagnostic[];
}

/** The entry with its places. `replaces` is what the lock says under its name now. */
export function planPlaces(
  entry: LockEntry,
  replaces: LockEntry | undefined,
  context: PlacesContext,
): PlannedPlaces {
  const { placed: _, ...bare } = entry;
  const placed: PlacedCopy[] = [];
  const notes: Diagnostic[] = [];
  for (const copy of wantedPlaces(entry, replaces, context)) {
    const reason = isRecorded(copy, entry, replaces) ? undefined : findObstacle(copy, entry, context);
    if (reason === undefined) placed.push(copy);
    else notes.push(reportTaken(placedFolder(context.lockFile, copy), reason));
  }
  return { entry: placed.length > 0 ? { ...bare, placed } : bare, notes };
}

/** Whether the lock records every place that is asked for. */
export function hasPlaces(installed: LockEntry, context: PlacesContext): boolean {
  const wanted = wantedPlaces(installed, installed, context);
  const recorded = new Set(installed.placed?.map(describePlace));
  return wanted.every((copy) => recorded.has(describePlace(copy)));
}

function describePlace({ path, how }: PlacedCopy): string {
  return `${how} ${path}`;
}

/** Several clients may share a folder; the first that is asked for gives the place its name. */
function wantedPlaces(
  { name }: LockEntry,
  replaces: LockEntry | undefined,
  context: PlacesContext,
): readonly PlacedCopy[] {
  const kept = (replaces?.placed ?? []).flatMap((copy) =>
    replaces?.name === name ? [copy] : moveTo(copy, name, context),
  );
  const asked = clientsOf(context.request).map((client) => ({
    client: client.id,
    path: placeFor(client, name, context),
    how: client.followsLinks && !context.request.copy ? ("link" as const) : ("copy" as const),
  }));
  const byPath = new Map<string, PlacedCopy>();
  for (const copy of [...asked, ...kept]) if (!byPath.has(copy.path)) byPath.set(copy.path, copy);
  return [...byPath.values()];
}

/** Another skill takes the name here: it goes to the same clients, into folders of its own name. */
function moveTo(
  { client: id, how }: PlacedCopy,
  name: string,
  context: PlacesContext,
): readonly PlacedCopy[] {
  const client = findClient(id);
  return client ? [{ client: id, path: placeFor(client, name, context), how }] : [];
}

function clientsOf({ agents = [] }: Pick<InstallRequest, "agents">): readonly Client[] {
  return agents.flatMap((id) => findClient(id) ?? []);
}

function placeFor(client: Client, name: string, { lockFile, parts }: PlacesContext): string {
  const path = clientPath(client, lockFile.owner, name);
  return lockFile.owner === "user" ? join(parts.places.home, path) : path;
}

function isRecorded({ path }: PlacedCopy, { name }: LockEntry, replaces: LockEntry | undefined): boolean {
  return replaces?.name === name && replaces.placed?.some((copy) => copy.path === path) === true;
}

function findObstacle(copy: PlacedCopy, entry: LockEntry, context: PlacesContext): string | undefined {
  const { lock, parts, lockFile, request } = context;
  const other = lock.skills.find(
    (one) => calledAs(one) !== calledAs(entry) && one.placed?.some(({ path }) => path === copy.path),
  );
  if (other) return `it is the place of the installed skill \`${calledAs(other)}\``;
  if (entry.linked && copy.how === "copy") return `\`${copy.client}\` finds no linked folders`;
  const state = stateOfPlace(copy, entry, { places: parts.places, lockFile });
  if (state === "refused") return "a link on the way leads out of the project";
  if (state === "missing" || request.force) return undefined;
  // Also a folder with the same content is someone else's; only a link into the store can be no other's than Metier's.
  const isOwn = state !== "foreign" && lstatSync(placedFolder(lockFile, copy)).isSymbolicLink();
  return isOwn ? undefined : "something else is there";
}

/** Others who check the project out have no such store; for all skills at once. */
export function reportLinks(
  planned: readonly { readonly entry: LockEntry }[],
  lockFile: LockFile,
  { agents = [] }: Pick<InstallRequest, "agents">,
): readonly Diagnostic[] {
  if (lockFile.owner === "user" || agents.length === 0) return [];
  const links = planned.flatMap(({ entry: { placed = [], linked, copied } }) =>
    linked || copied ? [] : placed.filter(({ how }) => how === "link"),
  );
  const [first] = links;
  if (first === undefined) return [];
  const others = links.length > 1 ? `, and ${links.length - 1} more,` : "";
  return [
    {
      code: "install.links-into-home",
      severity: "warning",
      path: placedFolder(lockFile, first),
      message: `\`${first.path}\`${others} in the project leads into your own store; whoever else checks the project out gets a link to nothing.`,
      hint: "Install with `--copy` to put copies there, or keep the links out of the repository.",
    },
  ];
}

function reportTaken(place: string, reason: string): Diagnostic {
  return {
    code: "install.place-taken",
    severity: "warning",
    path: place,
    message: `The skill is not put into \`${place}\`: ${reason}.`,
    hint: "Move away or remove what is in the way and install again, or let `--force` move it aside.",
  };
}
