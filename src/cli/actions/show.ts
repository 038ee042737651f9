/** `metier show`: one skill, with everything that was decided about it. */

import { tellOrigin } from "../../disclose/tell-origin.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { Skill } from "../../skill/skill.ts";
import { MANIFEST_DEFAULTS } from "../../validate/build-manifest.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, out, outJson } from "../context.ts";
import type { WantedCapability } from "../describe-capabilities.ts";
import { openMetier } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { statusSymbol } from "../output/list-text.ts";
import { skillJson } from "../output/skill-json.ts";
import { count, type Style, safeLine, safeText, styleFor } from "../output/style.ts";
import { run as runList } from "./list.ts";

export async function run(context: CliContext, flags: CommonFlags, name?: string): Promise<void> {
  if (name === undefined) {
    await runList(context, flags);
    return;
  }
  const metier = await openMetier(context, flags);
  const skill = metier.require(name);
  const capabilities = await findCapabilities(context, metier, skill);
  if (flags.json) {
    outJson(context, {
      ...skillJson(skill),
      trustReason: skill.trust.reason,
      form: skill.form,
      directory: skill.directory,
      manifest: skill.manifest,
      body: skill.body,
      ...(capabilities.length > 0 && { capabilities }),
      diagnostics: skill.diagnostics,
    });
    return;
  }
  out(context, skillText(skill, capabilities, styleFor(context.io.color)));
}

/** By the config alone: whether a provider is wired, not what it offers. */
async function findCapabilities(
  { io }: CliContext,
  metier: Metier,
  { manifest }: Skill,
): Promise<readonly WantedCapability[]> {
  if (manifest.capabilities.length === 0) return [];
  const { findProviders } = await import("../describe-capabilities.ts");
  return findProviders(metier, io.environment, manifest.capabilities);
}

function capabilityRow({ id, provider }: WantedCapability): readonly [string, string] {
  const by = provider === null ? "no provider is configured for it" : `by the provider ${provider}`;
  return ["capability", `${id} - ${by}`];
}

function skillText(skill: Skill, capabilities: readonly WantedCapability[], style: Style): string {
  const { manifest, trust, shadows, shadowedBy, body, diagnostics } = skill;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["status", skill.reason ? `${skill.status} - ${skill.reason}` : skill.status],
    ["trust", `${trust.level} - ${trust.reason}`],
    ["scope", skill.scope],
    ["origin", skill.remote && `${tellOrigin(skill.remote)} - ${skill.remote.uri}`],
    ["location", skill.location || "given by the embedding program"],
    ["shadowed by", shadowedBy && `${shadowedBy.scope} - ${shadowedBy.location}`],
    ...shadows.map(({ scope, location }) => ["shadows", `${scope} - ${location}`] as const),
    ...capabilities.map(capabilityRow),
    [
      "body",
      skill.remote
        ? undefined
        : `${count(body.lines, "line")}, about ${count(Math.ceil(body.characters / 4), "token")}`,
    ],
  ];
  const head = `${statusSymbol(skill.status, style)} ${style.bold(safeLine(manifest.displayName ?? skill.name))}\n  ${safeText(skill.description)}`;
  const fields = manifestRows(skill);
  const problems = diagnostics.map((diagnostic) => diagnosticText(diagnostic, style));
  return [
    head,
    table(rows, style),
    ...(fields.length > 0 ? [`${style.bold("Manifest")}\n${table(fields, style)}`] : []),
    ...(problems.length > 0 ? [`${style.bold("Problems")}\n${problems.join("\n")}`] : []),
  ].join("\n\n");
}

/** The fields the skill itself gives, without those shown above. */
function manifestRows({ manifest }: Skill): readonly (readonly [string, string])[] {
  return Object.entries(manifest)
    .filter(([key, value]) => !SHOWN_ABOVE.has(key) && !isDefault(key, value))
    .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)] as const);
}

const SHOWN_ABOVE: ReadonlySet<string> = new Set(["name", "displayName", "description", "capabilities"]);

function isDefault(key: string, value: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(MANIFEST_DEFAULTS[key as keyof typeof MANIFEST_DEFAULTS]);
}

function table(rows: readonly (readonly [string, string | undefined])[], style: Style): string {
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== undefined);
  const width = Math.max(...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `  ${style.dim(label.padEnd(width))}  ${safeLine(value)}`).join("\n");
}
