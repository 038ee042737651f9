/** What comes of updates, in the words of tests. */
import type { UpdateOutcome, UpdateResult } from "@metier/install";
import { type InstallWorld, readText } from "./installing.ts";

export function updateOf(outcome: UpdateOutcome): UpdateResult {
  if (!outcome.ok) throw new Error(`${outcome.fault.code}: ${outcome.fault.message}`);
  return outcome;
}

export const codes = ({ skipped }: UpdateResult): Record<string, string> =>
  Object.fromEntries(skipped.map(({ name, code }) => [name, code]));
export const names = ({ updated }: UpdateResult): readonly string[] => updated.map(({ name }) => name);

/** The text of an installed skill, as the catalog reads it. */
export async function bodyOf(world: InstallWorld, name: string): Promise<string> {
  const metier = await world.metier();
  return readText(metier.require(`installed:${name}`).location);
}
