/** A project with skills for the suite: more than one page of them, folders, bytes, odd names. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const SKILLS = 120;

/** @param {string} folder */
export function writeProject(folder) {
  /** @param {string} path @param {string | Uint8Array} content */
  const write = (path, content) => {
    const file = join(folder, ".claude", "skills", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
  for (let number = 1; number <= SKILLS; number++) {
    const name = `notes-${number}`;
    write(`${name}/SKILL.md`, skillText(name, `Looks up note number ${number}. Use for questions about it.`));
  }
  write("atlas/SKILL.md", skillText("atlas", "Knows maps. Use when a place is asked for."));
  write("atlas/references/Q & A (ä).md", "# Questions\n");
  write(
    "atlas/references/deep/er/tiles.bin",
    Uint8Array.from({ length: 300 }, (_, index) => index % 256),
  );
  write("atlas/scripts/draw.sh", "#!/bin/sh\necho map\n");
}

/** @param {string} name @param {string} description */
function skillText(name, description) {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nAnswer in one sentence.\n`;
}
