/**
 * Converts text that Postgres refuses or changes to a form it preserves: the character 0, and halves of surrogate
 * pairs. Values are JSON, which escapes them; ids, keys and names come from people and models.
 */

const REFUSED = /[\u0000\u0001]|\p{Surrogate}/gu;
const WRITTEN = /\u0001([0-9a-f]{4})/g;

export function writeText(text: string): string {
  return text.replace(
    REFUSED,
    (character) => `\u0001${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function writeOptionalText(text: string | undefined): string | null {
  return text === undefined ? null : writeText(text);
}

export function restoreText(text: string): string {
  return text.replace(WRITTEN, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
