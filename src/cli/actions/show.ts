/** `metier show`: one skill, with everything that was decided about it. */

import type { Skill } from "../../skill/skill.ts";
import { MANIFEST_DEFAULTS } from "../../validate/build-manifest.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, out, outJson } from "../context.ts";
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
  if (flags.json) {
    outJson(context, {
      ...skillJson(skill),
      trustReason: skill.trust.reason,
      form: skill.form,
      directory: skill.directory,
      manifest: skill.manifest,
      body: skill.body,
      diagnostics: skill.diagnostics,
    });
    return;
  }
  out(context, skillText(skill, styleFor(context.io.color)));
}

function skillText(skill: Skill, style: Style): string {
  const { manifest, trust, shadows, shadowedBy, body, diagnostics } = skill;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["status", skill.reason ? `${skill.status} - ${skill.reason}` : skill.status],
    ["trust", `${trust.level} - ${trust.reason}`],
    ["scope", skill.scope],
    ["location", skill.location || "given by the embedding program"],
    ["shadowed by", shadowedBy && `${shadowedBy.scope} - ${shadowedBy.location}`],
    ...shadows.map(({ scope, location }) => ["shadows", `${scope} - ${location}`] as const),
    ["body", `${count(body.lines, "line")}, about ${count(Math.ceil(body.characters / 4), "token")}`],
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

const SHOWN_ABOVE: ReadonlySet<string> = new Set(["name", "displayName", "description"]);

function isDefault(key: string, value: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(MANIFEST_DEFAULTS[key as keyof typeof MANIFEST_DEFAULTS]);
}

function table(rows: readonly (readonly [string, string | undefined])[], style: Style): string {
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== undefined);
  const width = Math.max(...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `  ${style.dim(label.padEnd(width))}  ${safeLine(value)}`).join("\n");
}
