/**
 * What a skill of an MCP server is called here: `<label>:<name>`. No other skill's name has a colon, so it never takes the
 * name of one, and whoever reads it sees where the skill comes from.
 */
import { nearestNames } from "../foundation/nearest-names.ts";
import { isScope } from "./scope.ts";

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

/** What may stand before the colon. A scope there means something else. */
export function isServerLabel(text: string): boolean {
  return LABEL.test(text) && !isScope(text);
}

export function remoteName(server: string, name: string): string {
  return `${server}:${name}`;
}

/** The label of the server, of a skill that comes from one. */
export function serverOf(name: string): string | undefined {
  const colon = name.indexOf(":");
  return colon < 0 ? undefined : name.slice(0, colon);
}

/** Which skills may be meant by a name that none has: those that servers offer by it, else those of similar names. */
export function nearSkills(asked: string, names: readonly string[]): readonly string[] {
  const ofServers = names.filter((name) => name.endsWith(`:${asked}`));
  return ofServers.length > 0 ? ofServers : nearestNames(asked, names);
}
