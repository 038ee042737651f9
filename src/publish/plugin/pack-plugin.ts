/** `metier pack`: skills become a plugin of the Agent Plugins standard (1.0.0), with the MCP servers they come with. */
import { resolve } from "node:path";
import { compareText, type Diagnostic } from "../../foundation/diagnostic.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { Finding } from "../../scan/finding.ts";
import type { SkippedPart } from "../../scan/scan-limits.ts";
import type { Profile } from "../../validate/profiles.ts";
import type { TarEntry } from "../archive/write-tar.ts";
import type { LeftOut } from "../left-out.ts";
import { type PreparedSkill, prepareSkills } from "../prepare-skills.ts";
import { type PublishRefusal, refusePublish } from "../publish-outcome.ts";
import { readStaged, withStage } from "../stage-skill.ts";
import { readMcpConfig } from "./mcp-config.ts";
import { buildPluginManifest, type PluginFields, type PluginManifest } from "./plugin-manifest.ts";
import { writePlugin } from "./write-plugin.ts";

export interface PackOptions extends PluginFields {
  /** Names and paths of skills; default: all below the working directory. */
  readonly skills?: readonly string[];
  /** A folder, or a file that ends in `.tar.gz` or `.tgz`. */
  readonly output: string;
  /** A `plugin.json` to begin with; fields given here go before its own. */
  readonly manifestFile?: string | undefined;
  /** A file with `mcpServers`, which becomes the plugin's `mcp.json`. */
  readonly mcpFile?: string | undefined;
  /** How strict the check of the skills is. Default: `strict`, the specification to the letter. */
  readonly profile?: Profile | undefined;
  /** For relative paths. Default: that of the process. */
  readonly cwd?: string;
  /** Replace a plugin in the output folder. */
  readonly force?: boolean;
}

export interface PackedSkill {
  readonly name: string;
  /** Content identity. */
  readonly identity: string;
  readonly leftOut: readonly LeftOut[];
  /** What the scan found that does not keep it from being published. */
  readonly findings: readonly Finding[];
  /** What the scan could not look at. */
  readonly unscanned: readonly SkippedPart[];
}

export interface PackReport {
  readonly ok: true;
  /** The folder or archive, absolute. */
  readonly path: string;
  readonly plugin: PluginManifest;
  /** By name. */
  readonly skills: readonly PackedSkill[];
  /** Names of the MCP servers. */
  readonly servers: readonly string[];
  /** Warnings and notes about the skills. */
  readonly diagnostics: readonly Diagnostic[];
}

export type PackOutcome = PackReport | PublishRefusal;

/** Nothing is written unless every skill may be published. */
export async function packPlugin(
  metier: Pick<Metier, "config" | "require">,
  options: PackOptions,
): Promise<PackOutcome> {
  const cwd = resolve(options.cwd ?? process.cwd());
  const absolute = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(cwd, path);
  return withStage(async (stage) => {
    const path = resolve(cwd, options.output);
    const { skills: asked = [], profile } = options;
    const prepared = await prepareSkills({ metier, asked, cwd, output: path, profile, stage });
    if (!prepared.ok) return prepared;
    const { skills } = prepared;
    const built = await buildPluginManifest(pickFields(options), absolute(options.manifestFile), skills);
    if (!built.ok) return built;
    const mcpFile = absolute(options.mcpFile);
    const mcp = mcpFile === undefined ? undefined : await readMcpConfig(mcpFile);
    if (mcp?.ok === false) {
      return refusePublish("publish.usage", mcp.message, "Agent Plugins 1.0.0 says what a server may have.");
    }
    const entries = [
      textEntry("plugin.json", `${JSON.stringify(built.manifest, undefined, 2)}\n`),
      ...(mcp === undefined ? [] : [textEntry("mcp.json", mcp.text)]),
      ...skills.flatMap(skillEntries),
    ].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
    const fault = writePlugin(path, built.manifest.name, entries, options.force ?? false);
    if (fault !== undefined) return fault;
    return {
      ok: true,
      path,
      plugin: built.manifest,
      skills: skills.map(({ name, identity, leftOut, findings, unscanned }) => {
        return { name, identity, leftOut, findings, unscanned };
      }),
      servers: [...(mcp?.names ?? [])].sort(compareText),
      diagnostics: [...prepared.diagnostics, ...skills.flatMap((skill) => skill.diagnostics)],
    };
  });
}

function pickFields(options: PackOptions): PluginFields {
  const { name, version, description, author, homepage, repository, license, keywords, extensions } = options;
  return { name, version, description, author, homepage, repository, license, keywords, extensions };
}

/** A skill's folder is named as the skill is, which the standard requires of both. */
function skillEntries({ name, folder }: PreparedSkill): readonly TarEntry[] {
  return readStaged(folder).map((entry) => ({ ...entry, path: `skills/${name}/${entry.path}` }));
}

function textEntry(path: string, text: string): TarEntry {
  return { kind: "file", path, executable: false, bytes: Buffer.from(text) };
}
