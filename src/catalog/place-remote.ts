/**
 * Skills of MCP servers in the catalog: made from what their servers declare, without a file. They stand under their own
 * names (`<label>:<name>`), so they hide nobody; that one has the name of another skill is said.
 */
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import type { RemoteSkill, RemoteSkills } from "../sources/remote-skills.ts";
import type { Grants } from "../trust/grants.ts";
import { decideRemoteTrust, remoteLocation } from "../trust/remote-trust.ts";
import type { Profile } from "../validate/profiles.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import type { PlacedSkill } from "./placed-skill.ts";

export interface PlaceRemoteInputs {
  readonly remote?: RemoteSkills;
  readonly profile: Profile;
  readonly grants: Grants;
  readonly remoteRank: number;
  /** All that are not of a server. */
  readonly others: readonly PlacedSkill[];
}

export interface PlacedRemote {
  readonly placed: readonly PlacedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export function placeRemote(inputs: PlaceRemoteInputs): PlacedRemote {
  const { remote } = inputs;
  if (remote === undefined) return { placed: [], diagnostics: [] };
  const taken = new Map(inputs.others.map((skill) => [skill.manifest.name, skill]));
  const placed: PlacedSkill[] = [];
  const diagnostics: Diagnostic[] = [...remote.diagnostics];
  for (const skill of remote.skills) {
    const one = placeOne(skill, inputs);
    diagnostics.push(...one.diagnostics);
    if (one.placed === undefined) continue;
    placed.push(one.placed);
    const other = taken.get(skill.frontmatter.name);
    if (other) diagnostics.push(reportTaken(skill, other));
  }
  return { placed, diagnostics };
}

function placeOne(
  { name, origin, frontmatter, folder }: RemoteSkill,
  { profile, grants, remoteRank }: PlaceRemoteInputs,
): { readonly placed?: PlacedSkill; readonly diagnostics: readonly Diagnostic[] } {
  const file = join(folder, "SKILL.md");
  const parsed: ParsedSkill = {
    candidate: { form: "directory", file, directory: folder, defaultName: frontmatter.name },
    frontmatter,
    body: "",
    bodyLine: 1,
    position: () => undefined,
    written: () => undefined,
    diagnostics: [],
  };
  const { manifest, body, diagnostics: found } = validateSkill(parsed, profile);
  const path = remoteLocation(origin);
  const diagnostics = found
    .filter(({ code }) => !code.startsWith("body.")) // It is not known yet.
    .map(({ line: _line, column: _column, ...diagnostic }) => ({ ...diagnostic, path }));
  if (manifest === undefined) return { diagnostics };
  return {
    placed: {
      candidate: parsed.candidate,
      manifest: { ...manifest, name },
      root: {
        scope: "remote",
        path: folder,
        kind: "foreign",
        rank: remoteRank,
        explicit: true,
        grantFolder: folder,
      },
      realFile: file,
      remote: origin,
      trust: decideRemoteTrust(name, origin, grants),
      body,
      diagnostics,
    },
    diagnostics,
  };
}

function reportTaken({ name, origin, frontmatter }: RemoteSkill, { root }: PlacedSkill): Diagnostic {
  return {
    code: "remote.name-taken",
    severity: "info",
    path: remoteLocation(origin),
    message: `The MCP server \`${origin.server}\` offers a skill by the name of your ${root.scope} skill \`${frontmatter.name}\`; it is \`${name}\` here, and \`${frontmatter.name}\` stays yours.`,
  };
}
