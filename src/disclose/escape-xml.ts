/**
 * Text that may stand in XML, whatever it holds: a skill's own words cannot open or close an element or end an
 * attribute. Characters that XML forbids are left out.
 */
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Everything but the characters of XML 1.0, and the five that mean something in it. */
const SPECIAL = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]|[&<>"']/gu;

export function escapeXml(text: string): string {
  return text.replace(SPECIAL, (character) => ENTITIES[character] ?? "");
}
