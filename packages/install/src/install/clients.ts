/**
 * The clients that `install --agent` places skills for: where each looks for them, in the user's home and in a project, what
 * stands at such a place, and which places a skill goes into. That is decided before the lock is replaced, which then
 * records them; a place where something else stands is left out, with the reason.
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

/** Both shared folders first, then those who read one of them everywhere, then in projects; those whom few use last. */
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

/** Where the client looks for the skill, below the home or the project's root. */
export function clientPath(client: PlacedClient, owner: LockOwner, skill: string): string {
  return `${client[owner]}/${skill}`;
}

/** Whether a client looks there in a project: what a project's lock may name as a place of the skill. */
export function isClientPath(path: string, skill: string): boolean {
  return listPlacedClients().some((client) => clientPath(client, "project", skill) === path);
}

/** What to do about a name that no client has. */
export function explainClients(name: string): string {
  const others = KNOWN_CLIENTS.filter(hasFolders).flatMap(({ alsoCalled = [] }) => alsoCalled);
  const ids = listPlacedClients().map(({ id }) => id);
  return listKnown(name, ids, others);
}

/** `earlier`: Metier's own, but not what the lock records now. `refused`: no place that the lock may name. */
type PlaceState = "missing" | "right" | "earlier" | "foreign" | "refused";

export interface PlaceContext {
  readonly places: Places;
  readonly lockFile: LockFile;
}

/**
 * `digests` are further contents that Metier put there. A project's lock may come from anyone, so that what it names is
 * looked at only where a client looks for this skill.
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
    // A version that someone was killed over before the copy followed.
    existsSync(storeFolder(context.places, { name: entry.name, digest }));
  return isOwn ? "earlier" : "foreign";
}

/** The first place of an entry at which something stands that Metier did not put there. */
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

/** A folder of the store without its version; one that is gone has a name, too. */
function skillIn(folder: string): string {
  return basename(folder).replace(/@[0-9a-f]{16}$/, "@");
}

/** As a checkout brings it that was made on another machine, where the store is another one. */
function isLost(target: string): boolean {
  return dirname(target).endsWith(join(sep, ".metier", "store")) && !existsSync(target);
}

interface PlacesContext {
  readonly request: Pick<InstallRequest, "agents" | "copy" | "force">;
  readonly parts: Pick<InstallParts, "places">;
  readonly lockFile: LockFile;
  readonly lock: Lock;
}

/** The entry with its places. `replaces` is what the lock says under its name now. */
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

/** Another skill takes the name here: it goes to the same clients, into folders of its own name. */
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
