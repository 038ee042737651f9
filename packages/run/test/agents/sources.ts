/** What agents and commands are loaded from, for a `Metier` over real files. */
import type { World } from "../../../../test/support/world.ts";
import type { DefinitionSources } from "../../src/agents/read-definitions.ts";

/** As the library, which vouches for the folders it opens, unless told otherwise. */
export async function sourcesOf(
  world: World,
  embedding: DefinitionSources["embedding"] = "library",
): Promise<DefinitionSources> {
  const { roots, grants, config } = await world.metier();
  const { trustedPaths } = config.config.skills;
  return { roots, embedding, folderGrants: grants.folders, trustedPaths };
}
