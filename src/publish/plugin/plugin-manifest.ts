/** The `plugin.json` of a plugin: what a file says, then what the caller says, then what its only skill says. */
import { basename } from "node:path";
import { readBounded } from "../../host/read-bounded.ts";
import { type JsonFields, parseJsonObject } from "../../install/json-object.ts";
import { checkJson } from "../../validate/json-schema.ts";
import type { PreparedSkill } from "../prepare-skills.ts";
import { type PublishRefusal, refusePublish } from "../publish-outcome.ts";
import { PLUGIN_FIELDS, PLUGIN_SCHEMA, PLUGIN_SCHEMA_ID } from "./plugin-schemas.ts";

/** Fields of `plugin.json`; a field that is absent is not written. */
export interface PluginFields {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly author?: PluginAuthor | undefined;
  readonly homepage?: string | undefined;
  readonly repository?: string | undefined;
  readonly license?: string | undefined;
  readonly keywords?: readonly string[] | undefined;
  /** Data of clients, each under a reverse domain name. */
  readonly extensions?: Readonly<Record<string, object>> | undefined;
}

export interface PluginAuthor {
  readonly name?: string;
  readonly email?: string;
  readonly url?: string;
}

export interface PluginManifest extends PluginFields {
  readonly $schema: string;
  readonly name: string;
}

export type ManifestOutcome = { readonly ok: true; readonly manifest: PluginManifest } | PublishRefusal;

const MAX_BYTES: number = 1024 * 1024;
const CLOSED =
  "The form is closed: what belongs to one client goes below `extensions`, under its domain name.";

/** `file`: a `plugin.json` to begin with, absolute. */
export async function buildPluginManifest(
  given: PluginFields,
  file: string | undefined,
  skills: readonly PreparedSkill[],
): Promise<ManifestOutcome> {
  const read = file === undefined ? {} : readManifest(file);
  if (typeof read === "string") return refusePublish("publish.usage", read, "Name a `plugin.json`.");
  const merged: JsonFields = {
    ...defaultFields(skills),
    ...read,
    ...withoutGaps(given),
    $schema: PLUGIN_SCHEMA_ID,
  };
  if (merged.name === undefined) {
    return refusePublish(
      "publish.usage",
      `A plugin of ${skills.length} skills needs a name.`,
      "Give one with `--name`, or a `plugin.json` with `--manifest`.",
    );
  }
  const checked = await checkJson(PLUGIN_SCHEMA, merged);
  if (!checked.ok) {
    const what = file === undefined ? "The plugin" : `The plugin of \`${file}\``;
    return refusePublish("publish.usage", `${what} cannot be written: ${checked.message}.`, CLOSED);
  }
  const ordered = PLUGIN_FIELDS.filter((key) => merged[key] !== undefined).map((key) => [key, merged[key]]);
  return { ok: true, manifest: Object.fromEntries(ordered) as PluginManifest };
}

/** A plugin of one skill is called and described as that is. */
function defaultFields(skills: readonly PreparedSkill[]): PluginFields {
  const [only, ...others] = skills;
  if (only === undefined || others.length > 0) return {};
  const { name, description, version, license } = only.manifest;
  return withoutGaps({ name, description, version, license });
}

function withoutGaps(fields: PluginFields): PluginFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A sentence for what cannot be read. */
function readManifest(file: string): JsonFields | string {
  const read = readBounded(file, MAX_BYTES);
  if (!read.ok) return read.message;
  return parseJsonObject(read.text) ?? `\`${basename(file)}\` holds no JSON object.`;
}

/** `Ada <ada@example.com> (https://example.com)`, of which everything but the name may be left out. */
export function readAuthor(text: string): PluginAuthor {
  const [, name = "", email, url] = /^([^<(]*)(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?$/.exec(text.trim()) ?? [];
  return { name: name.trim() || text.trim(), ...(email && { email }), ...(url && { url }) };
}
