/** A skill that is no Markdown file (a YAML file, an object) as the text of a `SKILL.md`. */
import type { Json } from "../skill/manifest.ts";
import type { Instructions } from "./read-instructions.ts";

const PLAIN_KEY = /^[A-Za-z][\w-]*$/;

export function writeSkillText(instructions: Instructions): string {
  return `${writeFields(skillFields(instructions))}\n${instructions.text}\n`;
}

/** The frontmatter of that text. */
export function skillFields({ name, manifest, frontmatter }: Instructions): Readonly<Record<string, Json>> {
  return { name, description: manifest.description, ...frontmatter };
}

/** With its fences. Values are written as JSON, which is YAML too. */
export function writeFields(fields: Readonly<Record<string, Json>>): string {
  const lines = Object.entries(fields).map(([key, value]) => {
    return `${PLAIN_KEY.test(key) ? key : JSON.stringify(key)}: ${JSON.stringify(value)}`;
  });
  return `---\n${lines.join("\n")}\n---\n`;
}
