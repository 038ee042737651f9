/** `metier read` and `metier prompt`: print what a model gets to see of skills. */
import { SkillResourceError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { cleanText, safeLine } from "@metier/base/text";
import type { Metier } from "@metier/runtime";
import {
  hasFolder,
  type ListingOptions,
  loadTokenCounter,
  MINIMUM_BUDGET,
  outline,
  section,
  tellOrigin,
  wrapInstructions,
} from "@metier/skills";
import type { Action } from "../commands/define.ts";
import type { PromptFlags, ReadFlags } from "../commands/reading.ts";
import { type CliContext, err, out, outJson, reply } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { count } from "../output/style.ts";

export const readAction: Action<ReadFlags> = async (context, flags, ...args) => {
  const [name = "", file, ...more] = args;
  if (more.length > 0) throw new UsageError("`metier read` takes one skill and at most one of its files.");
  if (file !== undefined) refuseOtherFlags(flags);
  const metier = await openMetier(context, flags);
  if (file !== undefined) await metier.remote.load(name);
  if (file !== undefined) readFile(context, flags, metier, name, file);
  else if (flags.files) listFiles(context, flags, metier, name);
  else await readBody(context, flags, metier, name);
};

/** Options for a skill's instructions make no sense for one of its files. */
function refuseOtherFlags(flags: ReadFlags): void {
  const flag = (["whole", "wrapped", "files"] as const).find((name) => flags[name]);
  if (flag === undefined) return;
  throw new UsageError(`\`--${flag}\` applies to a skill, not to one of its files.`, {
    hint: "Leave out the option or the file. `--outline` and `--section` work for both.",
  });
}

function readFile(context: CliContext, flags: ReadFlags, metier: Metier, name: string, file: string): void {
  const { text, bytes, ...facts } = metier.readResource(name, file);
  if (text === undefined) {
    if (flags.json && !flags.outline && flags.section === undefined) {
      outJson(context, { ...facts, base64: Buffer.from(bytes ?? []).toString("base64") });
      return;
    }
    throw new UsageError(`\`${file}\` is not text (${facts.mediaType}).`, {
      hint: "Use `--json` alone to get it as base64.",
    });
  }
  if (flags.outline) {
    printOutline(context, flags, name, text);
    return;
  }
  const shown = flags.section === undefined ? text : requireSection(name, text, flags.section);
  if (flags.json) {
    outJson(context, { ...facts, text: shown });
    return;
  }
  // A terminal would obey control characters, and nobody sees the other invisible ones.
  const clean = cleanText(shown);
  out(context, clean.text);
  if (clean.removed) {
    const { count: removed, example } = clean.removed;
    const what = `Left out ${count(removed, "invisible character")} (${example})`;
    err(context, `${what}. \`--json\` prints the text unchanged.`);
  }
}

function listFiles(context: CliContext, flags: ReadFlags, metier: Metier, name: string): void {
  const { resources, diagnostics } = metier.listResources(name);
  const lines = resources.map(({ kind, path, size }) =>
    safeLine(`${kind.padEnd(10)}  ${path}  ${size} bytes`),
  );
  reply(context, flags, { resources, diagnostics }, () => lines.join("\n"));
}

async function readBody(context: CliContext, flags: ReadFlags, metier: Metier, name: string): Promise<void> {
  const instructions = await metier.getInstructions(name, { whole: flags.whole });
  const { text, digest, diagnostics } = instructions;
  if (flags.outline) {
    printOutline(context, flags, instructions.name, text);
    return;
  }
  const shown = flags.section === undefined ? text : requireSection(name, text, flags.section);
  const printed = flags.wrapped ? wrapped(metier, instructions.name, shown, digest) : shown;
  const json = { name: instructions.name, digest, text: printed, diagnostics };
  reply(context, flags, json, () => printed, diagnostics);
}

function printOutline(context: CliContext, flags: ReadFlags, name: string, text: string): void {
  const entries = outline(text);
  const lines = entries.map(
    ({ number, title }) => `${number}  ${safeLine(title || "(before the first heading)")}`,
  );
  reply(context, flags, { name, outline: entries }, () => lines.join("\n"));
}

const MOST_SECTIONS_NAMED = 40;

function requireSection(name: string, body: string, wanted: string): string {
  const found = section(body, wanted);
  if (found) return found.text;
  const titles = outline(body).flatMap(({ title }) => (title === "" ? [] : safeLine(title)));
  const named = titles.slice(0, MOST_SECTIONS_NAMED).join(", ");
  throw new SkillResourceError(name, wanted, "missing", `it has no section \`${wanted}\`.`, {
    hint:
      titles.length === 0
        ? "It has no headings."
        : `Sections: ${named}${titles.length > MOST_SECTIONS_NAMED ? ", …" : "."}`,
  });
}

function wrapped(metier: Metier, name: string, text: string, digest: string): string {
  const skill = metier.require(name);
  const { resources } = metier.listResources(name);
  const files = hasFolder(skill) ? { directory: skill.directory, resources } : {};
  const origin = skill.remote && { origin: tellOrigin(skill.remote) };
  return wrapInstructions({ name, text, digest, ...origin, ...files });
}

export const promptAction: Action<PromptFlags> = async (context, flags) => {
  const { format, location, mountPath, activation, allow, deny } = flags;
  const metier = await openMetier(context, flags, presentFields({ allow, deny }));
  const options: ListingOptions = { format, activation, ...presentFields({ location, mountPath }) };
  if (flags.budget === undefined) {
    const text = metier.renderListing(options);
    reply(context, flags, { text }, () => text);
    return;
  }
  const budget = parseBudget(flags.budget);
  const { text, report } = metier.planListing({ ...options, budget, countTokens: await loadTokenCounter() });
  reply(context, flags, { text, report }, () => text);
  if (flags.json) return;
  const { full, shortened, nameOnly, counted, tokens, fits } = report;
  const parts = `${full.length} full, ${shortened.length} shortened, ${nameOnly.length} by name, ${counted.length} counted`;
  err(context, `${count(tokens, "token")} of ${budget}: ${parts}.`);
  const above = `That is over the budget; ${MINIMUM_BUDGET} tokens are always enough to count the skills.`;
  if (!fits) err(context, above);
};

function parseBudget(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`\`--budget ${text}\` is not a number of tokens.`, {
    hint: "Use a whole number, 1 or greater, such as `--budget 4000`.",
  });
}
