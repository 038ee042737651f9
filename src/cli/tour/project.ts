/** The project the tour is made on: some skills and a text, written to a temporary folder. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A project with what projects have: a good skill, a messy one, one that shadows a bundled skill, one that lacks a program. */
const SKILLS: Readonly<Record<string, string>> = {
  "changelog/SKILL.md": `---
name: changelog
description: Write the changelog entry for a change. Use when a pull request is about to be merged.
---

Read the diff, then write one line a user understands.
`,
  "Release Notes/SKILL.md": `---
description: Note: collects what changed since the last tag
version: 1.0
---

List what changed, most important first.
`,
  "summarize-text/SKILL.md": `---
name: summarize-text
description: A project's own way to summarize; untrusted, so it does not replace the bundled one.
---

Summarize in the house style.
`,
  "deploy/SKILL.md": `---
name: deploy
description: Deploy the service to the cluster.
requires:
  bins: [metier-tour-missing-program]
---

Deploy.
`,
};

export const NOTES_FILE = "meeting-notes.md";

const NOTES = `# Release meeting, Tuesday

Present: Ada, Jun, Sol.

- Version 2.4 ships on Thursday if the migration test passes on the copy of production; Jun runs it tonight.
- The new export is slower than the old one for files above 2 GB (41 s against 12 s). Sol thinks it is the checksum,
  and will measure. It does not block the release.
- The documentation of the export is missing. Ada writes it before Thursday.
- Open: whether 2.3 still gets fixes. To be decided next week.
`;

/** Writes it below `folder`, which exists. */
export function writeTourProject(folder: string): void {
  for (const [path, content] of Object.entries(SKILLS)) {
    const file = join(folder, ".metier", "skills", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  writeFileSync(join(folder, NOTES_FILE), NOTES);
}
