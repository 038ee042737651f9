/**
 * Tier 2 as it goes into a conversation: instructions between marks that they cannot close, told once however often a
 * skill is activated, and found again when a host compacts its messages. Knows no message format: the marks are text.
 */
import { checkKeys } from "@metier/base/shape";
import { cleanLine, cleanText } from "@metier/base/text";
import { originLine } from "./listing.ts";
import type { Instructions } from "./read-instructions.ts";
import type { SkillResource } from "./resources.ts";

const WRAPPER = "skill_content";
const RESOURCES = "skill_resources";

/** One activation of a skill: its name, and the digest of the text that was given out. */
export interface ActivatedText {
  /** The skill's name. */
  readonly name: string;
  /** `sha256:…` */
  readonly digest: string;
}

/** What one conversation has been given already. */
export interface Conversation {
  /** What was given out, in order; give it to `createConversation` to go on later. */
  readonly activations: readonly ActivatedText[];
  /**
   * Records the activation. `wrapped` when this text is new to the conversation, also when a skill has changed since;
   * a short answer when it is there already.
   */
  activate(activation: ActivatedText, wrapped: string): ActivationAnswer;
  /** The text is gone from the conversation, so that the next activation gives it again. */
  forget(name: string): void;
}

export interface ActivationAnswer {
  /** What the model is told: the instructions, or that it has them already. */
  readonly text: string;
  /** Whether the conversation had these instructions already. */
  readonly repeated: boolean;
}

/** Starts to keep track of the instructions a conversation was given; `earlier` continues one that was kept. */
export function createConversation(earlier: readonly ActivatedText[] = []): Conversation {
  let activations: readonly ActivatedText[] = [...earlier];
  return {
    get activations() {
      return activations;
    },
    activate({ name, digest }, wrapped) {
      // The last text of a skill counts: one that was changed and changed back is given again.
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
 * The positions of the messages that must be kept: those with the instructions of one of these activations. Marks that
 * nobody made, for example in the output of a tool, protect nothing.
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
  /** The wrapped instructions of these activations, as they were given out. */
  readonly taken: readonly string[];
  /** The text without them. */
  readonly rest: string;
}

/** Takes the instructions of skills out of a message, to keep them when the message goes. */
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
  /** The files of the skill that are named in the text. Default: none. */
  readonly resources?: readonly SkillResource[] | undefined;
}

const MAX_LISTED = 50;
/** What `metier test` reads is for the skill's author; whoever carries the skill out has no use for it. */
const TEST_FILE = /^tests\/[^/]+\.test\.ya?ml$/;

/** The beginning of one of our marks, however it is spaced or written. */
const OWN_MARK = new RegExp(`[<\\uFF1C\\uFE64](?=[\\s/\\\\\\uFF0F]*(?:${WRAPPER}|${RESOURCES}))`, "giu");

/** Instructions with the skill's folder and a short list of its files. */
export function wrapInstructions(
  { name, text, digest, origin, directory, resources = [] }: WrappedInstructions,
  options: {
    /** How many files are named at most. Default: 50. */
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

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Everything but the characters of XML 1.0, and the five that mean something in it. */
const SPECIAL = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]|[&<>"']/gu;

/**
 * Text that may stand in XML, whatever it holds: a skill's own words cannot open or close an element or end an
 * attribute. Characters that XML forbids are left out.
 */
export function escapeXml(text: string): string {
  return text.replace(SPECIAL, (character) => ENTITIES[character] ?? "");
}
