/** Length in Unicode characters, counted only where it can exceed `limit`; below that the cheap length will do. */
export function countCharacters(text: string, limit: number): number {
  return text.length <= limit ? text.length : [...text].length;
}
