/**
 * `npm run docs:record`: runs the session of the tutorial in a real terminal, and writes recordings of it to `docs/images`.
 * Run it when a command of the tutorial prints something new. Needs Python 3, which opens the terminal.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { drawTerminal } from "./docs/terminal-svg.mjs";
import { ROOT } from "./setup/repository.mjs";

const PAGE = "docs/tutorial/index.md";
const COLUMNS = 98;
/** Which commands of the page each picture shows. */
const RECORDINGS = [
  {
    file: "terminal-tutorial.svg",
    title: "Create, check and test a skill",
    shows: /^metier (?:new|validate|test)\b/,
  },
  { file: "terminal-run.svg", title: "Trust and run a skill", shows: /^metier (?:trust|run)\b/, last: 2 },
];

const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-record-")));
try {
  const turns = playPage(readFileSync(join(ROOT, PAGE), "utf8"));
  for (const { file, title, shows, last = turns.length } of RECORDINGS) {
    const shown = turns.filter(({ command }) => shows.test(command)).slice(-last);
    writeFileSync(join(ROOT, "docs/images", file), drawTerminal(title, shown, COLUMNS));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Writes the page's files and runs its commands, from top to bottom. @param {string} page */
function playPage(page) {
  const [home, bin] = [join(folder, "ada"), join(folder, "bin")];
  const cwd = join(home, "project");
  for (const made of [cwd, bin]) mkdirSync(made, { recursive: true });
  const program = join(bin, "metier");
  writeFileSync(
    program,
    `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/packages/metier/bin/metier.js' "$@"\n`,
  );
  chmodSync(program, 0o755);
  const { NO_COLOR: _, ...rest } = process.env;
  const env = { ...rest, HOME: home, PATH: [bin, process.env.PATH].join(delimiter) };
  return [...page.matchAll(/^```([^\n`]*)\n(.*?)^```$/gms)].flatMap(([, info = "", code = ""]) => {
    const [, path] = /^\w+ in (\S+)$/.exec(info) ?? [];
    if (path !== undefined) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), code);
    }
    if (info !== "console") return [];
    return [...code.matchAll(/^\$ (.*)$/gm)].map(([, command = ""]) => ({
      command,
      output: runInTerminal(command, cwd, env).replaceAll(home, "~"),
    }));
  });
}

/** @param {string} command @param {string} cwd @param {NodeJS.ProcessEnv} env */
function runInTerminal(command, cwd, env) {
  const order = JSON.stringify({ columns: COLUMNS, keys: [], limit: 60, command: ["sh", "-c", command] });
  const program = join(ROOT, "test/support/pseudo-terminal.py");
  const { stdout, stderr, status } = spawnSync("python3", [program, order], { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`\`${command}\` could not be recorded: ${stderr}`);
  const { screen, code } = JSON.parse(stdout);
  if (code !== 0) throw new Error(`\`${command}\` exited with ${code}:\n${screen}`);
  return screen;
}
