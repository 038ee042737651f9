/** `metier read`: tiers 2 and 3 on the command line. */
import { cleanText } from "../../disclose/clean-text.ts";
import { outline, section } from "../../disclose/outline.ts";
import { hasFolder } from "../../disclose/skill-folder.ts";
import { tellOrigin } from "../../disclose/tell-origin.ts";
import { wrapInstructions } from "../../disclose/wrap-instructions.ts";
import { SkillResourceError, UsageError } from "../../foundation/errors.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { safeLine, styleFor } from "../output/style.ts";

interface ReadFlags {
  readonly whole?: boolean;
  readonly wrapped?: boolean;
  readonly outline?: boolean;
  readonly section?: string;
  readonly files?: boolean;
}

type Flags = ReadFlags & CommonFlags;

export async function run(context: CliContext, flags: Flags, ...args: readonly string[]): Promise<void> {
  const [name = "", file, ...more] = args;
  if (more.length > 0) throw new UsageError("`metier read` takes one skill and at most one of its files.");
  if (file !== undefined) refuseOtherFlags(flags);
  const metier = await openMetier(context, flags);
  if (file !== undefined) await metier.remote.load(name);
  if (file !== undefined) readFile(context, flags, metier, name, file);
  else if (flags.files) listFiles(context, flags, metier, name);
  else await readBody(context, flags, metier, name);
}

/** What is said about a skill's instructions means nothing for one of its files. */
function refuseOtherFlags(flags: Flags): void {
  for (const flag of ["whole", "wrapped", "files"] as const) {
    if (flags[flag]) {
      throw new UsageError(`\`--${flag}\` is about a skill, not about one of its files.`, {
        hint: "Leave out the flag or the file; `--outline` and `--section` work for both.",
      });
    }
  }
}

function readFile(context: CliContext, flags: Flags, metier: Metier, name: string, file: string): void {
  const { text, bytes, ...facts } = metier.readResource(name, file);
  if (text === undefined) {
    if (flags.json && !flags.outline && flags.section === undefined) {
      outJson(context, { ...facts, base64: toBase64(bytes) });
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
  // A terminal would obey control characters, and nobody sees the others.
  const clean = cleanText(shown);
  out(context, clean.text);
  if (clean.removed) {
    const { count: removed, example } = clean.removed;
    const what = removed === 1 ? "1 character" : `${removed} characters`;
    err(context, `${what} that cannot be seen left out (${example}); \`--json\` gives the text as it is.`);
  }
}

function toBase64(bytes: Uint8Array = new Uint8Array()): string {
  return Buffer.from(bytes).toString("base64");
}

function listFiles(context: CliContext, { json }: Flags, metier: Metier, name: string): void {
  const { resources, diagnostics } = metier.listResources(name);
  if (json) outJson(context, { resources, diagnostics });
  else
    out(
      context,
      resources
        .map(({ kind, path, size }) => safeLine(`${kind.padEnd(10)}  ${path}  ${size} bytes`))
        .join("\n"),
    );
}

async function readBody(context: CliContext, flags: Flags, metier: Metier, name: string): Promise<void> {
  const instructions = await metier.getInstructions(name, { whole: flags.whole ?? false });
  const { text, digest, diagnostics } = instructions;
  if (flags.outline) {
    printOutline(context, flags, instructions.name, text);
    return;
  }
  const shown = flags.section === undefined ? text : requireSection(name, text, flags.section);
  const printed = flags.wrapped ? wrapped(metier, instructions.name, shown, digest) : shown;
  if (flags.json) outJson(context, { name: instructions.name, digest, text: printed, diagnostics });
  else {
    out(context, printed);
    const style = styleFor(context.io.color);
    err(context, diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
  }
}

function printOutline(context: CliContext, { json }: Flags, name: string, text: string): void {
  const entries = outline(text);
  if (json) {
    outJson(context, { name, outline: entries });
    return;
  }
  const lines = entries.map(
    ({ number, title }) => `${number}  ${safeLine(title || "(before the first heading)")}`,
  );
  out(context, lines.join("\n"));
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
