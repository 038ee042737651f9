/**
 * The clients that `install --agent` supports: where each looks for skills, in the user's home and in a project, what
 * is at such a path, and which paths a skill goes to. This is decided before the lock is replaced, which then records
 * the paths; a path that is occupied is left out, with the reason.
 */
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { type Places, realPathOr } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import { type Client, type ClientFolders, findKnownClient, KNOWN_CLIENTS } from "@metier/skills";
import {
  calledAs,
  identifyFolder,
  isWithinOwner,
  type Lock,
  type LockEntry,
  type LockFile,
  type LockOwner,
  lockedFolder,
  type PlacedCopy,
  placedFolder,
  storeFolder,
} from "@metier/skills/trust";
import { listKnown } from "./install-fault.ts";
import type { InstallParts, InstallRequest } from "./requests.ts";

const SHARED = ".agents/skills";
const FIRST: readonly string[] = ["agents", "claude-code"];

interface PlacedClient extends ClientFolders {
  readonly id: string;
}

let placedClients: readonly PlacedClient[] | undefined;

/** Both shared folders first, then clients that read one of them everywhere, then in projects; rare clients last. */
export function listPlacedClients(): readonly PlacedClient[] {
  placedClients ??= KNOWN_CLIENTS.filter(hasFolders)
    .sort((a, b) => rank(a) - rank(b) || compareText(a.id, b.id))
    .map(({ id, folders }) => ({ id, ...folders }));
  return placedClients;
}

type WithFolders = Client & { readonly folders: ClientFolders };

function hasFolders(client: Client): client is WithFolders {
  return client.folders !== undefined;
}

function rank({ id, folders: { user, project }, reading }: WithFolders): number {
  if (FIRST.includes(id)) return FIRST.indexOf(id) - FIRST.length;
  if (reading?.isRare) return 3;
  return user === SHARED ? 0 : project === SHARED ? 1 : 2;
}

export function findClient(name: string): PlacedClient | undefined {
  const id = findKnownClient(name)?.id;
  return listPlacedClients().find((client) => client.id === id);
}

/** Where the client looks for the skill, inside the home or the project's root. */
export function clientPath(client: PlacedClient, owner: LockOwner, skill: string): string {
  return `${client[owner]}/${skill}`;
}

/** Whether a client looks there in a project, so that a project's lock may name it. */
export function isClientPath(path: string, skill: string): boolean {
  return listPlacedClients().some((client) => clientPath(client, "project", skill) === path);
}

/** What to do about an unknown client name. */
export function explainClients(name: string): string {
  const others = KNOWN_CLIENTS.filter(hasFolders).flatMap(({ alsoCalled = [] }) => alsoCalled);
  const ids = listPlacedClients().map(({ id }) => id);
  return listKnown(name, ids, others);
}

/** `earlier`: Metier's own, but not what the lock records now. `refused`: a path that the lock may not name. */
type PlaceState = "missing" | "right" | "earlier" | "foreign" | "refused";

export interface PlaceContext {
  readonly places: Places;
  readonly lockFile: LockFile;
}

/**
 * `digests` are other contents that Metier put there. Anyone may have written a project's lock, so a path it names is
 * checked only if a client looks there for this skill.
 */
export function stateOfPlace(
  copy: PlacedCopy,
  entry: LockEntry,
  context: PlaceContext,
  digests: readonly string[] = [],
): PlaceState {
  const { lockFile } = context;
  const place = placedFolder(lockFile, copy);
  const isAllowed = lockFile.owner === "user" || isClientPath(copy.path, entry.name);
  if (!isAllowed || !isWithinOwner(lockFile, place)) return "refused";
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  if (stats.isSymbolicLink()) return stateOfLink(place, copy, entry, context);
  if (!stats.isDirectory()) return "foreign";
  const found = identifyFolder(place);
  if (!found.ok) return "foreign";
  const { digest } = found.value;
  if (digest === entry.digest) return copy.how === "copy" ? "right" : "earlier";
  const isOwn =
    [entry.previous?.digest, ...digests].includes(digest) ||
    // A version left by an update that was killed before the copy followed.
    existsSync(storeFolder(context.places, { name: entry.name, digest }));
  return isOwn ? "earlier" : "foreign";
}

/** An entry's first path with something that Metier did not put there. */
export function findForeignPlace(entry: LockEntry, context: PlaceContext): string | undefined {
  const foreign = entry.placed?.find((copy) => {
    return ["foreign", "refused"].includes(stateOfPlace(copy, entry, context));
  });
  return foreign && placedFolder(context.lockFile, foreign);
}

function stateOfLink(
  place: string,
  { how }: PlacedCopy,
  entry: LockEntry,
  { places, lockFile }: PlaceContext,
): PlaceState {
  const target = resolve(realPathOr(dirname(place)), readlinkSync(place));
  const folder = realPathOr(lockedFolder(places, lockFile, entry));
  if (realPathOr(target) === folder) return how === "link" ? "right" : "earlier";
  const own = storeFolder({ store: realPathOr(places.store) }, entry);
  const isVersion = skillIn(target) === skillIn(own) && (dirname(target) === dirname(own) || isLost(target));
  return isVersion ? "earlier" : "foreign";
}

/** A store folder's name without its version; also works if it no longer exists. */
function skillIn(folder: string): string {
  return basename(folder).replace(/@[0-9a-f]{16}$/, "@");
}

/** As in a checkout from another machine with another store. */
function isLost(target: string): boolean {
  return dirname(target).endsWith(join(sep, ".metier", "store")) && !existsSync(target);
}

interface PlacesContext {
  readonly request: Pick<InstallRequest, "agents" | "copy" | "force">;
  readonly parts: Pick<InstallParts, "places">;
  readonly lockFile: LockFile;
  readonly lock: Lock;
}

/** The entry with its paths. `replaces` is what the lock has under its name now. */
export function planPlaces(
  entry: LockEntry,
  replaces: LockEntry | undefined,
  context: PlacesContext,
): { readonly entry: LockEntry; readonly notes: readonly Diagnostic[] } {
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

/** Whether the lock records every requested path. */
export function hasPlaces(installed: LockEntry, context: PlacesContext): boolean {
  const wanted = wantedPlaces(installed, installed, context);
  const recorded = new Set(installed.placed?.map(describePlace));
  return wanted.every((copy) => recorded.has(describePlace(copy)));
}

function describePlace({ path, how }: PlacedCopy): string {
  return `${how} ${path}`;
}

/** Several clients may share a folder; the first requested one names the path. */
function wantedPlaces(
  { name }: LockEntry,
  replaces: LockEntry | undefined,
  context: PlacesContext,
): readonly PlacedCopy[] {
  const kept = (replaces?.placed ?? []).flatMap((copy) =>
    replaces?.name === name ? [copy] : moveTo(copy, name, context),
  );
  const { agents = [], copy } = context.request;
  const clients = agents.flatMap((id) => findClient(id) ?? []);
  const asked = clients.map((client): PlacedCopy => {
    const how = !client.ignoresLinks && !copy ? "link" : "copy";
    return { client: client.id, path: placeFor(client, name, context), how };
  });
  const byPath = new Map<string, PlacedCopy>();
  for (const copy of [...asked, ...kept]) if (!byPath.has(copy.path)) byPath.set(copy.path, copy);
  return [...byPath.values()];
}

/** Another skill takes the name here: it goes to the same clients, into folders with its own name. */
function moveTo(
  { client: id, how }: PlacedCopy,
  name: string,
  context: PlacesContext,
): readonly PlacedCopy[] {
  const client = findClient(id);
  return client ? [{ client: id, path: placeFor(client, name, context), how }] : [];
}

function placeFor(client: PlacedClient, name: string, { lockFile, parts }: PlacesContext): string {
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
  if (other) return `the installed skill \`${calledAs(other)}\` uses this path`;
  if (entry.linked && copy.how === "copy") return `\`${copy.client}\` does not follow linked folders`;
  const state = stateOfPlace(copy, entry, { places: parts.places, lockFile });
  if (state === "refused") return "a link in the path points outside the project";
  if (state === "missing" || request.force) return undefined;
  // A folder with the same content may still be someone else's; only a link into the store is certainly Metier's.
  const isOwn = state !== "foreign" && lstatSync(placedFolder(lockFile, copy)).isSymbolicLink();
  return isOwn ? undefined : "something else is there";
}

/** Others who check out the project have no such store; one warning for all skills. */
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
      message: `\`${first.path}\`${others} in the project points into your own store; for anyone else who checks out the project, the link is broken.`,
      hint: "Install with `--copy` to put copies there, or keep the links out of the repository.",
    },
  ];
}

function reportTaken(place: string, reason: string): Diagnostic {
  return {
    code: "install.place-taken",
    severity: "warning",
    path: place,
    message: `The skill was not placed in \`${place}\`: ${reason}.`,
    hint: "Move or remove what is in the way and install again, or pass `--force` to move it aside.",
  };
}
