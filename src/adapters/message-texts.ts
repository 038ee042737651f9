/** All text in a message, whatever its format: providers and frameworks nest it differently. */

/** Deeper than any format nests; what lies below is not text for a model. */
const MOST_LEVELS = 8;

export function messageTexts(value: unknown, level = 0): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || level > MOST_LEVELS) return [];
  return Object.values(value).flatMap((part) => messageTexts(part, level + 1));
}

/** What the user wrote last, word for word; `undefined` when the last message of a user has no text. */
export function lastUserText(messages: readonly unknown[]): string | undefined {
  const last = messages.findLast(isOfUser);
  if (last === undefined) return undefined;
  const { content } = last;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part: { readonly text?: unknown } | null) =>
    typeof part?.text === "string" ? [part.text] : [],
  );
  return texts.length > 0 ? texts.join("\n") : undefined;
}

function isOfUser(message: unknown): message is { readonly content: unknown } {
  return (
    typeof message === "object" &&
    message !== null &&
    "role" in message &&
    message.role === "user" &&
    "content" in message
  );
}
