/**
 * Where what MCP servers say, and the files of their skills, are kept: below the cache, which is never searched for skills
 * and which only the host writes. A path tells the server, and no two skills of any servers share one.
 */
import { join } from "node:path";
import type { Places } from "../host/places.ts";
import { digestBytes } from "../trust/identify-file.ts";
import type { RemoteEntry } from "./check-entry.ts";

type CachePlaces = Pick<Places, "cache">;

export function serversFolder({ cache }: CachePlaces): string {
  return join(cache, "mcp");
}

export function serverFolder(places: CachePlaces, label: string): string {
  return join(serversFolder(places), label);
}

export function indexFile(places: CachePlaces, label: string): string {
  return join(serverFolder(places, label), "index.json");
}

/** Below it stands a folder for each skill that was used. */
export function fetchedFolder(places: CachePlaces, label: string): string {
  return join(serverFolder(places, label), "skills");
}

const KEY_LENGTH = 32;

/** Another folder for each content: what is in one is never changed. Its last part is the skill's own name. */
export function skillFolder(
  places: CachePlaces,
  label: string,
  { uri, digest, frontmatter }: Pick<RemoteEntry, "uri" | "digest" | "frontmatter">,
): string {
  const key = digestBytes(`${uri}\n${digest}`).slice("sha256:".length).slice(0, KEY_LENGTH);
  return join(fetchedFolder(places, label), key, frontmatter.name);
}
