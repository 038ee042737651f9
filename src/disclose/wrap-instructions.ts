/**
 * Tier 2 as it goes into a conversation: instructions between marks, with the skill's folder and a short list of its
 * files. Whatever the text holds, it cannot close its own wrapper or open another one.
 */
import { cleanLine, cleanText } from "./clean-text.ts";
import { escapeXml } from "./escape-xml.ts";
import type { SkillResource } from "./list-resources.ts";
import { openWrapper, WRAPPER } from "./protect.ts";
import { originLine } from "./tell-origin.ts";

export interface WrappedInstructions {
  readonly name: string;
  /** Body or whole file. */
  readonly text: string;
  /** `sha256:…` of the text. */
  readonly digest: string;
  /** Whose they are, where they are not of this machine. */
  readonly origin?: string;
  /** The folder as the reader sees it: on disk, or where it is mounted. */
  readonly directory?: string;
  readonly resources?: readonly SkillResource[];
}

const RESOURCES = "skill_resources";
const MAX_LISTED = 50;
/** What `metier test` reads is for the skill's author; whoever carries the skill out has no use for it. */
const TEST_FILE = /^tests\/[^/]+\.test\.ya?ml$/;
/** The beginning of one of our marks, however it is spaced or written. */
const OWN_MARK = new RegExp(`[<\\uFF1C\\uFE64](?=[\\s/\\\\\\uFF0F]*(?:${WRAPPER}|${RESOURCES}))`, "giu");

export function wrapInstructions(
  { name, text, digest, origin, directory, resources = [] }: WrappedInstructions,
  { maxResources = MAX_LISTED }: { readonly maxResources?: number } = {},
): string {
  const lines = [openWrapper(name, digest)];
  if (origin !== undefined) lines.push(originLine(escapeLine(origin)), "");
  lines.push(neutralise(text));
  if (directory) {
    lines.push("", `Skill directory: ${escapeLine(directory)}`);
    lines.push("Relative paths in these instructions start at the skill directory.");
  }
  const named = resources.filter(({ path }) => !TEST_FILE.test(path));
  if (named.length > 0) lines.push("", ...listResourceLines(named, maxResources));
  lines.push(`</${WRAPPER}>`);
  return lines.join("\n");
}

/** Text that may stand in the wrapper: its own marks are escaped, everything else stays as it is written. */
export function neutralise(text: string): string {
  return cleanText(text).text.replace(OWN_MARK, "&lt;");
}

function listResourceLines(resources: readonly SkillResource[], maximum: number): readonly string[] {
  const listed = resources.slice(0, maximum).map(({ path }) => `<file>${escapeLine(path)}</file>`);
  const left = resources.length - listed.length;
  const more = left > 0 ? [`(and ${left} more ${left === 1 ? "file" : "files"})`] : [];
  return [`<${RESOURCES}>`, ...listed, ...more, `</${RESOURCES}>`];
}

/** On one line, whatever a file name holds. */
function escapeLine(text: string): string {
  return escapeXml(cleanLine(text));
}
