/**
 * Keeping instructions alive when a host compacts its conversation: the wrapper carries a mark, and the helper says
 * which messages have it. The mark is text, so it survives every message format and every store.
 */
import { escapeXml } from "./escape-xml.ts";

export const WRAPPER = "skill_content";

/** One activation of a skill: its name, and the digest of the text that was given out. */
export interface Activation {
  readonly name: string;
  /** `sha256:…` */
  readonly digest: string;
}

/** The line that opens a wrapper, with the mark. */
export function openWrapper(name: string, digest: string): string {
  return `<${WRAPPER} name="${escapeXml(name)}" protect="${markOf(digest)}">`;
}

const MARK_LENGTH = 16;

function markOf(digest: string): string {
  return digest.replace(/^sha256:/, "").slice(0, MARK_LENGTH);
}

/**
 * The positions of the messages that must be kept: those with the instructions of one of these activations. Marks that
 * nobody made, for example in the output of a tool, protect nothing.
 */
export function findProtected<Message>(
  messages: readonly Message[],
  activations: readonly Activation[],
  textOf: (message: Message) => string,
): readonly number[] {
  const marks = activations.map(({ name, digest }) => openWrapper(name, digest));
  return messages.flatMap((message, position) => {
    const text = textOf(message);
    return marks.some((mark) => text.includes(mark)) ? [position] : [];
  });
}
