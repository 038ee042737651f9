/** Writes frontmatter for a skill that was not read from a Markdown file. */
import type { Json } from "@metier/base/json";

const PLAIN_KEY = /^[A-Za-z][\w-]*$/;

/** With its fences. Values are written as JSON, which is also YAML. */
export function writeFields(fields: Readonly<Record<string, Json>>): string {
  const lines = Object.entries(fields).map(([key, value]) => {
    return `${PLAIN_KEY.test(key) ? key : JSON.stringify(key)}: ${JSON.stringify(value)}`;
  });
  return `---\n${lines.join("\n")}\n---\n`;
}
