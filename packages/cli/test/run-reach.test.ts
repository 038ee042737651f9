/** What a person sees of hooks and grants: before a run, while it lasts, and afterwards. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sandboxTest } from "../../../test/support/sandbox.ts";
import { createWorld, skill, type World } from "../../../test/support/world.ts";

const SCRIPT = [
  { answer: { toolCalls: [{ tool: "read_file", input: { path: "../data/in.txt" } }] } },
  { answer: { text: "Done." } },
];

/** A trusted skill that reads `data` beside the project. */
function createReachWorld(more = ""): World & { readonly model: string; readonly data: string } {
  const world = createWorld();
  const file = join(world.root, "script.json");
  const data = join(world.root, "data");
  writeFileSync(file, JSON.stringify(SCRIPT));
  world.write({
    "home/.metier/skills/pdf/SKILL.md": skill(
      "pdf",
      `sandbox: { read: [../data], network: [a.test] }\n${more}`,
    ),
    "home/.metier/config.toml": `[skills.pdf.sandbox]\nread = [${JSON.stringify(data)}]\n`,
    "data/in.txt": "the numbers",
  });
  return { ...world, data, model: `scripted:${file}` };
}

test("`--dry-run` shows hooks, what is declared and granted, and what to write to grant the rest", async () => {
  const world = createReachWorld(
    "hooks: { stop: [{ command: [sh, done.sh] }], pre-tool: [{ matcher: Bash }] }",
  );
  const { stdout, stderr } = await world.cli("run", "pdf", "--model", world.model, "--dry-run");
  expect(stdout).toContain("hook       stop: sh done.sh\n");
  expect(stdout).toContain("hook       pre-tool on Bash: can't be read\n");
  expect(stdout).toContain(`declared   network a.test; read ../data, ${world.data}`);
  expect(stdout).toContain(`granted    read ${world.data}`);
  expect(stderr).toContain("`[skills.pdf.sandbox]`");
  expect(stderr).toContain('`network = ["a.test"]`');
  const { json } = await world.cli("run", "pdf", "--model", world.model, "--dry-run", "--json");
  expect(json.sandbox.granted).toEqual({ network: [], read: [world.data], write: [] });
});

test("`runs show` says what was used", async () => {
  const world = createReachWorld();
  const { json } = await world.cli("run", "pdf", "--model", world.model, "--json");
  expect(json.sandbox.used.read).toEqual([join(world.data, "in.txt")]);
  const { stdout } = await world.cli("runs", "show", json.runId);
  expect(stdout).toMatch(/ used +read .*in\.txt/);
  expect(stdout).toMatch(/ granted +read /);
});

sandboxTest("a hook that blocks is seen while the run lasts, and in `runs show`", async () => {
  const world = createReachWorld(
    'hooks: { pre-tool: [{ matcher: Read, command: "echo not today >&2; exit 2" }] }',
  );
  const { code, stderr } = await world.cli("run", "pdf", "--model", world.model);
  expect(code).toBe(0);
  expect(stderr).toContain("pre-tool hook: block, not today");
  expect(stderr).toContain("✗ read_file");
  const { json } = await world.cli("runs", "--json");
  const { stdout } = await world.cli("runs", "show", json.runs[0].runId);
  expect(stdout).toContain("pre-tool hook on read_file: block: not today");
});

test("what an untrusted skill loses is said with commands that find it by the path it was named by", async () => {
  const world = createWorld();
  const script = join(world.root, "script.json");
  writeFileSync(script, JSON.stringify([{ answer: { text: "Done." } }]));
  world.write({ "project/own one/SKILL.md": skill("own-one", "allowed-tools: Bash(git:*)") });
  const { stderr } = await world.cli("run", "./own one", "Go.", "--model", `scripted:${script}`);
  const folder = join(world.project, "own one");
  const words = `own-one --path '${folder}'`;
  expect(stderr).toContain(`untrusted until \`metier trust ${words}\` or \`trusted-paths\``);
  expect(stderr).toContain(
    `Read it with \`metier read ${words}\`, then trust it with \`metier trust ${words}\`.`,
  );
  expect((await world.cli("read", "own-one", "--path", folder)).code).toBe(0);
  expect((await world.cli("trust", "own-one", "--path", folder)).code).toBe(0);
  const trusted = await world.cli("run", "./own one", "Go.", "--model", `scripted:${script}`);
  expect(trusted.stderr).not.toContain("invoke.withheld");
});
