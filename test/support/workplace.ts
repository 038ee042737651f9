/** Where the commands of the documents run: a folder with what a clone and an installed package have, a home with a model, and an `npx`. */
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "./repository.ts";
import { temporaryFolder, writeTree } from "./temporary.ts";

export interface Workplace {
  readonly cwd: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A model that answers at once, so that commands which need one can be shown. */
const SCRIPT = '[{ "answer": { "text": "Three points." } }]';

/** Commits that are the same each time. */
const GIT = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_AUTHOR_DATE: "2026-11-17T09:00:00Z",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org",
  GIT_COMMITTER_DATE: "2026-11-17T09:00:00Z",
};

export function makeWorkplace(): Workplace {
  const folder = temporaryFolder();
  const [home, bin] = [join(folder, "ada"), join(folder, "bin")];
  const cwd = join(home, "project");
  for (const made of [home, cwd, bin]) mkdirSync(made);
  for (const copied of ["packages/metier/skills", "examples", "packages/metier/recordings"]) {
    cpSync(join(ROOT, copied), join(cwd, copied), { recursive: true });
    cpSync(join(ROOT, copied), join(cwd, "node_modules/metier", copied.replace("packages/metier/", "")), {
      recursive: true,
    });
  }
  const script = join(home, ".metier/answers.json");
  const config = `[models.default]\nprovider = "scripted"\nmodel = "${script}"\n`;
  writeTree(home, { ".metier/answers.json": SCRIPT, ".metier/config.toml": config });
  const program = `exec '${process.execPath}' '${ROOT}/packages/metier/bin/metier.js' "$@"\n`;
  for (const [name, text] of [
    ["npx", `shift\n${program}`],
    ["metier", program],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = { ...process.env, ...GIT, HOME: home, PATH: [bin, process.env.PATH].join(delimiter) };
  return { cwd, home, env };
}
