/** A skill that is no Markdown file (a YAML file, an object) as the text of a `SKILL.md`. */
import type { Instructions } from "./read-instructions.ts";

const PLAIN_KEY = /^[A-Za-z][\w-]*$/;

/** Values are written as JSON, which is YAML too. */
export function writeSkillText({ name, text, manifest, frontmatter }: Instructions): string {
  const fields = { name, description: manifest.description, ...frontmatter };
  const lines = Object.entries(fields).map(([key, value]) => {
    return `${PLAIN_KEY.test(key) ? key : JSON.stringify(key)}: ${JSON.stringify(value)}`;
  });
  return `---\n${lines.join("\n")}\n---\n\n${text}\n`;
}
