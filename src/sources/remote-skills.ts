/**
 * The scope `remote` as the catalog takes it: what MCP servers have said of their skills, known without asking them again.
 * Where that is read from, and how it is verified, is `src/remote`.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Json } from "../skill/manifest.ts";
import type { RemoteOrigin } from "../skill/skill.ts";

export interface RemoteSkill {
  /** What it is called here. */
  readonly name: string;
  readonly origin: RemoteOrigin;
  /** As the server declares it; held against the file when that is fetched. */
  readonly frontmatter: Readonly<Record<string, Json>> & { readonly name: string };
  /** Where its files are put when it is used. */
  readonly folder: string;
}

export interface RemoteSkills {
  readonly skills: readonly RemoteSkill[];
  readonly diagnostics: readonly Diagnostic[];
}
