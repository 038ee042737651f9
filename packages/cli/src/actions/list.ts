/**
 * `metier list` and `metier show`: all skills, where they come from, and why one is unavailable. `metier find` and
 * `metier match`: the right skill for a request.
 */
import { EXIT } from "@metier/base/errors";
import { safeLine, safeText } from "@metier/base/text";
import type { Metier } from "@metier/runtime";
import { MANIFEST_DEFAULTS, type Skill, tellOrigin } from "@metier/skills";
import type { Action, CommonFlags } from "../commands/define.ts";
import type { FindFlags, ListFlags } from "../commands/reading.ts";
import {
  type CliContext,
  columnsOf,
  endWith,
  err,
  fit,
  out,
  outJson,
  reply,
  savingMemory,
} from "../context.ts";
import { askForTrust, openMetier, openSilently } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics.ts";
import { listPieces, problemsText, skillJson, statusSymbol, summaryText } from "../output/list-text.ts";
import { createProgressLine } from "../output/progress.ts";
import { count, cutText, labelled, type Style, styleFor } from "../output/style.ts";
import type { WantedCapability } from "./describe-capabilities.ts";
import { showLong } from "./pager.ts";
import { parseNumber } from "./run-request.ts";

export const listAction: Action<ListFlags> = async (context, flags) => {
  const metier = await askForTrust(
    context,
    flags,
    await savingMemory(context, () => openSilently(context, flags)),
  );
  const { all, diagnostics } = metier.catalog;
  const skills = all.filter((skill) => isWanted(skill, flags));
  if (flags.json) {
    outJson(context, { skills: skills.map(skillJson), diagnostics });
    return;
  }
  const style = styleFor(context.io.color);
  const columns = columnsOf(context.io.stdout);
  if (skills.length === 0) out(context, fit(context, nothingText(all.length)));
  else if (context.io.interactive) {
    const text = [...listPieces(skills, style, columns), summaryText(skills)].join("");
    await showLong(context, metier, fit(context, text));
  } else {
    for (const piece of listPieces(skills, style, columns)) out(context, fit(context, piece));
    out(context, fit(context, summaryText(skills)));
  }
  err(context, fit(context, problemsText(diagnostics, style), context.io.stderr));
};

/** `metier skill manage list`: only the installed skills. */
export const listInstalledAction: Action = (context, flags) =>
  listAction(context, { ...flags, usable: false, scope: "installed" });

function isWanted(skill: Skill, { usable, scope }: ListFlags): boolean {
  return (!usable || skill.status === "enabled") && (scope === undefined || skill.scope === scope);
}

function nothingText(others: number): string {
  if (others > 0) return "No skill matches; `metier list` shows all of them.";
  return "No skills were found. `metier doctor` lists every directory that was searched; `metier new <name>` creates one.";
}

export const showAction: Action<CommonFlags, [name?: string]> = async (context, flags, name) => {
  if (name === undefined) return listAction(context, { ...flags, usable: false });
  const metier = await openMetier(context, flags);
  const skill = metier.require(name);
  const capabilities = await findCapabilities(context, metier, skill);
  const { trust, form, directory, manifest, body, diagnostics } = skill;
  const json = {
    ...skillJson(skill),
    ...{ trustReason: trust.reason, form, directory, manifest, body },
    capabilities: capabilities.length > 0 ? capabilities : undefined,
    diagnostics,
  };
  reply(context, flags, json, (style) => skillText(skill, capabilities, style));
};

/** From the config alone: whether a provider is configured, not what it offers. */
async function findCapabilities(
  { io }: CliContext,
  metier: Metier,
  { manifest }: Skill,
): Promise<readonly WantedCapability[]> {
  if (manifest.capabilities.length === 0) return [];
  const { findProviders } = await import("./describe-capabilities.ts");
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
    labelled(rows, style),
    ...(fields.length > 0 ? [`${style.bold("Manifest")}\n${labelled(fields, style)}`] : []),
    ...(problems.length > 0 ? [`${style.bold("Problems")}\n${problems.join("\n")}`] : []),
  ].join("\n\n");
}

/** The fields that the skill itself sets, without those shown above. */
function manifestRows({ manifest }: Skill): readonly (readonly [string, string])[] {
  return Object.entries(manifest)
    .filter(([key, value]) => !SHOWN_ABOVE.has(key) && !isDefault(key, value))
    .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)] as const);
}

const SHOWN_ABOVE: ReadonlySet<string> = new Set(["name", "displayName", "description", "capabilities"]);

function isDefault(key: string, value: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(MANIFEST_DEFAULTS[key as keyof typeof MANIFEST_DEFAULTS]);
}

const MANAGE_USES = {
  "enable <skill>": "Enable a skill in your config",
  "disable <skill>": "Disable a skill in your config",
  "update [skill…]": "Review and take new versions of installed skills",
  "remove <skill>": "Remove an installed skill",
  list: "List installed skills",
};

export const manageAction: Action = async (context, flags) => {
  const actions = Object.keys(MANAGE_USES).map((usage) => usage.split(" ")[0]);
  const lines = Object.entries(MANAGE_USES).map(([usage, brief]) => `  ${usage.padEnd(16)}  ${brief}`);
  reply(context, flags, { actions }, () => ["Usage: metier skill manage <action>", "", ...lines].join("\n"));
};

const LEAST_WIDTH = 20;

export const findAction: Action<FindFlags> = async (context, flags, ...words) => {
  const most = flags.number === undefined ? undefined : parseNumber("-k", flags.number, "skills");
  const metier = await openMetier(context, flags);
  const progress = createProgressLine(context.io.stderr);
  const hits = await metier.find(words.join(" "), most, { onProgress: progress.show }).finally(progress.end);
  if (hits.length === 0) endWith(context, EXIT.no);
  if (hits.length === 0 && !flags.json)
    err(context, "No usable skill fits these words; `metier list` shows all of them.");
  reply(context, flags, hits, ({ bold, dim }) => {
    const columns = columnsOf(context.io.stdout) ?? Number.POSITIVE_INFINITY;
    const lines = hits.map(({ name, score }) => {
      const head = `${score.toFixed(1).padStart(6)}  ${safeLine(name)}`;
      const room = Math.max(LEAST_WIDTH, Math.min(70, columns - head.length - 2));
      const description = cutText(metier.get(name)?.description ?? "", room);
      return `${score.toFixed(1).padStart(6)}  ${bold(safeLine(name))}  ${dim(description)}`;
    });
    return lines.join("\n");
  });
};

export const matchAction: Action = async (context, flags, ...words) => {
  const metier = await openMetier(context, flags);
  const { matches, diagnostics } = await metier.matchTriggers(words.join(" "));
  if (matches.length === 0) endWith(context, EXIT.no);
  if (matches.length === 0 && !flags.json) err(context, "No trigger fits.");
  const found = matches.map(({ skill: { name, location }, reasons }) => ({ name, location, reasons }));
  const lines = found.map(({ name, reasons }) => {
    const why = reasons.map(({ kind, trigger }) => `${kind} \`${trigger}\``).join(", ");
    return safeLine(`${name}  ${why}`);
  });
  reply(context, flags, { matches: found, diagnostics }, () => lines.join("\n"), diagnostics);
};
