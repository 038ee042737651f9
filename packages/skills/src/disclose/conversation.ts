/**
 * Tier 2 in a conversation: instructions between markers that they cannot close, given once however often a skill is
 * activated, and found again when a host compacts its messages. Independent of message formats: the markers are text.
 */
import { checkKeys } from "@metier/base/shape";
import { cleanLine, cleanText } from "@metier/base/text";
import { originLine } from "./listing.ts";
import type { Instructions } from "./read-instructions.ts";
import type { SkillResource } from "./resources.ts";

const WRAPPER = "skill_content";
const RESOURCES = "skill_resources";

/** One activation of a skill: its name, and the digest of its text. */
export interface ActivatedText {
  /** The skill's name. */
  readonly name: string;
  /** `sha256:…` */
  readonly digest: string;
}

/** What one conversation already has. */
export interface Conversation {
  /** What was given, in order; pass it to `createConversation` to continue later. */
  readonly activations: readonly ActivatedText[];
  /**
   * Records the activation. `wrapped` if this text is new to the conversation, also if a skill has changed; a short
   * answer if it is already there.
   */
  activate(activation: ActivatedText, wrapped: string): ActivationAnswer;
  /** The text is no longer in the conversation, so the next activation gives it again. */
  forget(name: string): void;
}

export interface ActivationAnswer {
  /** What the model sees: the instructions, or that it already has them. */
  readonly text: string;
  /** Whether the conversation already had these instructions. */
  readonly repeated: boolean;
}

/** Tracks which instructions a conversation has; `earlier` continues a stored one. */
export function createConversation(earlier: readonly ActivatedText[] = []): Conversation {
  let activations: readonly ActivatedText[] = [...earlier];
  return {
    get activations() {
      return activations;
    },
    activate({ name, digest }, wrapped) {
      // A skill's last text counts: one that was changed and changed back is given again.
      const last = activations.findLast((activation) => activation.name === name);
      if (last?.digest === digest) return { text: answerRepeated(name), repeated: true };
      activations = [...activations, { name, digest }];
      return { text: wrapped, repeated: false };
    },
    forget(name) {
      activations = activations.filter((activation) => activation.name !== name);
    },
  };
}

function answerRepeated(name: string): string {
  const shown = escapeXml(name);
  return `<${WRAPPER} name="${shown}" repeated="true">The instructions of \`${shown}\` are in this conversation already and have not changed: follow them.</${WRAPPER}>`;
}

const MARK_LENGTH = 16;

/** The line that opens a wrapper, with the mark that protects it. */
function openWrapper(name: string, digest: string): string {
  const mark = digest.replace(/^sha256:/, "").slice(0, MARK_LENGTH);
  return `<${WRAPPER} name="${escapeXml(name)}" protect="${mark}">`;
}

/**
 * The indexes of the messages to keep: those with the instructions of one of these activations. Forged markers, for
 * example in tool output, protect nothing.
 */
export function findProtected<Message>(
  messages: readonly Message[],
  activations: readonly ActivatedText[],
  textOf: (message: Message) => string,
): readonly number[] {
  const marks = activations.map(({ name, digest }) => openWrapper(name, digest));
  return messages.flatMap((message, position) => {
    const text = textOf(message);
    return marks.some((mark) => text.includes(mark)) ? [position] : [];
  });
}

interface TakenInstructions {
  /** The wrapped instructions of these activations, as they were given. */
  readonly taken: readonly string[];
  /** The text without them. */
  readonly rest: string;
}

/** Extracts skill instructions from a message, to keep them when the message is dropped. */
export function takeInstructions(text: string, activations: readonly ActivatedText[]): TakenInstructions {
  const end = `</${WRAPPER}>`;
  const taken: string[] = [];
  let rest = text;
  for (const { name, digest } of activations) {
    const mark = openWrapper(name, digest);
    const from = rest.indexOf(mark);
    const to = from === -1 ? -1 : rest.indexOf(end, from);
    if (to === -1) continue;
    taken.push(rest.slice(from, to + end.length));
    rest = `${rest.slice(0, from)}[instructions of the skill ${cleanLine(name)}]${rest.slice(to + end.length)}`;
  }
  return { taken, rest };
}

interface WrappedInstructions extends Pick<Instructions, "name" | "text" | "digest" | "origin"> {
  /** The folder as the reader sees it: on disk, or where it is mounted. */
  readonly directory?: string | undefined;
  /** The skill's files to name in the text. Default: none. */
  readonly resources?: readonly SkillResource[] | undefined;
}

const MAX_LISTED = 50;
/** Files of `metier test` are for the skill's author; running the skill does not need them. */
const TEST_FILE = /^tests\/[^/]+\.test\.ya?ml$/;

/** The start of one of our markers, in any spacing or spelling. */
const OWN_MARK = new RegExp(`[<\\uFF1C\\uFE64](?=[\\s/\\\\\\uFF0F]*(?:${WRAPPER}|${RESOURCES}))`, "giu");

/** Instructions with the skill's folder and a short list of its files. */
export function wrapInstructions(
  { name, text, digest, origin, directory, resources = [] }: WrappedInstructions,
  options: {
    /** How many files to name at most. Default: 50. */
    readonly maxResources?: number;
  } = {},
): string {
  checkKeys("wrapInstructions", options, { maxResources: true });
  const { maxResources = MAX_LISTED } = options;
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

/** Text for the wrapper: escapes its own markers and keeps everything else. */
export function neutralise(text: string): string {
  return cleanText(text).text.replace(OWN_MARK, "&lt;");
}

function listResourceLines(resources: readonly SkillResource[], maximum: number): readonly string[] {
  const listed = resources.slice(0, maximum).map(({ path }) => `<file>${escapeLine(path)}</file>`);
  const left = resources.length - listed.length;
  const more = left > 0 ? [`(and ${left} more ${left === 1 ? "file" : "files"})`] : [];
  return [`<${RESOURCES}>`, ...listed, ...more, `</${RESOURCES}>`];
}

/** On one line, whatever a file name contains. */
function escapeLine(text: string): string {
  return escapeXml(cleanLine(text));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Everything but the characters of XML 1.0, and the five with a meaning in it. */
const SPECIAL = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]|[&<>"']/gu;

/**
 * Escapes any text for XML: a skill's words cannot open or close an element or end an attribute. Drops characters that
 * XML forbids.
 */
export function escapeXml(text: string): string {
  return text.replace(SPECIAL, (character) => ENTITIES[character] ?? "");
}
