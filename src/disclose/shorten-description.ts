/** Where a description is cut: between words where it can be, never inside a character. */

/** The longest description, in characters, of a listing with short ones. */
export const SHORT_DESCRIPTION = 60;

/** What continues the character before it: a mark, a skin tone, a joiner, the second half of a pair. */
const CONTINUES = /^(?:\p{M}|\p{Emoji_Modifier}|\p{Default_Ignorable_Code_Point}|\p{Surrogate})/u;

/** At most `most` characters, with an ellipsis where something is missing. */
export function shortenDescription(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, cutPoint(text, most))}…`;
}

/** How much of a text longer than `most` is kept, so that it has room for an ellipsis. */
export function cutPoint(text: string, most: number): number {
  const room = most - 1;
  const blank = text.slice(0, room + 1).search(/\s+\S*$/);
  if (blank > room / 2) return blank;
  let cut = room;
  while (cut > 0 && (CONTINUES.test(text.slice(cut, cut + 2)) || text[cut - 1] === "\u200D")) cut--;
  return cut;
}
