/** `metier test`: the tests beside skills, of this project's own too, without a model, a network or this machine's settings. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/repository.ts";
import { sandboxTest } from "../support/sandbox.ts";
import { createWorld, skill, type World } from "../support/world.ts";

const BUNDLED = join(ROOT, "packages/metier/skills");
const FOLDER = "project/skills/greet";

/** A project with one skill, and its test files. */
function withTests(files: Readonly<Record<string, string>>, more = "", body = "Greet $ARGUMENTS."): World {
  const world = createWorld();
  const placed = Object.entries(files).map(([name, text]) => [`${FOLDER}/tests/${name}`, text]);
  world.write({ [`${FOLDER}/SKILL.md`]: skill("greet", more, body), ...Object.fromEntries(placed) });
  return world;
}

const GOOD = "- name: greets by name\n  arguments: Ada\n  expect: { text: { equals: Greet Ada. } }\n";
const WRONG = "- name: greets loudly\n  arguments: Ada\n  expect:\n    text: GREET\n";

describe("the bundled skills", () => {
  test("pass their own tests, and each has some", async () => {
    const { code, json } = await createWorld().cli("test", BUNDLED, "--json");
    const failed = json.cases.filter(({ passed }: { passed: boolean }) => !passed);
    expect(failed).toEqual([]);
    expect(json).toMatchObject({ failed: 0, untested: [], diagnostics: [] });
    expect(json.passed).toBe(json.cases.length);
    expect(json.passed).toBeGreaterThan(10);
    expect(code).toBe(0);
  });

  test("are found, valid and without findings as before, since their tests are content like any other", async () => {
    const world = createWorld();
    const { json: listed } = await world.cli("list", "--json");
    const names = listed.skills.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["gog", "review-a-skill", "summarize-text", "triage-issue", "write-a-skill"]);
    expect(listed.diagnostics).toEqual([]);
    const { json: validated } = await world.cli("validate", BUNDLED, "--json");
    expect(validated).toMatchObject({ valid: true, diagnostics: [] });
    expect(validated.results).toHaveLength(names.length);
    expect(await world.cli("scan", BUNDLED, "--fail-on", "low")).toMatchObject({ code: 0 });
  });
});

sandboxTest(
  "the example with scripts, a toolset and a hook passes once it is trusted, and not before",
  async () => {
    const world = createWorld();
    const path = join(ROOT, "examples/skills/expense-report");
    const before = await world.cli("test", path);
    expect(before).toMatchObject({ code: 1 });
    expect(before.stdout).toContain("`run_script` was not allowed");
    world.write({ "home/.metier/config.toml": `[skills]\ntrusted-paths = [${JSON.stringify(path)}]\n` });
    const { code, stdout } = await world.cli("test", path);
    expect(stdout).toContain("all passed: 2 of 2 cases of 1 skill passed.");
    expect(code).toBe(0);
    expect(existsSync(join(world.home, ".metier/state"))).toBe(false);
  },
);

test("the skill of the desk example passes its own tests, is valid, and the scan finds nothing", async () => {
  const world = createWorld();
  const path = join(ROOT, "examples/desk/skills");
  expect((await world.cli("test", path)).stdout).toContain("all passed: 2 of 2 cases of 1 skill passed.");
  const { json } = await world.cli("validate", path, "--json");
  expect(json.results.map(({ valid }: { valid: boolean }) => valid)).toEqual([true]);
  expect(await world.cli("scan", path, "--fail-on", "low")).toMatchObject({ code: 0 });
});

test("a wrong expectation fails, with its place and both texts", async () => {
  const world = withTests({ "a.test.yaml": GOOD, "b.test.yml": WRONG });
  const { code, stdout, stderr } = await world.cli("test");
  expect(code).toBe(1);
  expect(stderr).toBe("");
  expect(stdout).toBe(`greet
  ✓ greets by name  skills/greet/tests/a.test.yaml:1
  ✗ greets loudly  skills/greet/tests/b.test.yml:1
      expected the text
        "GREET"
      but got
        "Greet Ada."

1 failed: 1 of 2 cases of 1 skill passed.
`);
  const { json } = await world.cli("test", "skills", "--json");
  expect(json).toMatchObject({
    passed: 1,
    failed: 1,
    cases: [
      { skill: "greet", name: "greets by name", line: 1, passed: true, problems: [] },
      { name: "greets loudly", passed: false, file: join(world.root, FOLDER, "tests/b.test.yml") },
    ],
  });
});

test("every kind of difference is told", async () => {
  const script = (answer: string, expected: string): string =>
    `  script:\n    - answer: ${answer}\n    - answer: { text: Done. }\n  expect: ${expected}\n`;
  const list = '{ tool-calls: [{ tool: list_files, input: { path: "." } }] }';
  const world = withTests({
    "all.test.yaml": [
      "- name: refused\n  expect: { refused: access }\n",
      `- name: tools\n${script(list, "{ tools: [read_file] }")}`,
      `- name: input\n${script(list, "{ tools: [{ tool: list_files, input: { path: src } }] }")}`,
      `- name: denied\n${script(list, "{ tools: [{ tool: list_files, denied: true }] }")}`,
      `- name: answer\n${script(list, "{ text: { excludes: Done }, tools: [{ tool: list_files, text: nothing like it }] }")}`,
      `- name: result\n${script(list, "{ result: { status: limited, limit: time, files: [a.txt] } }")}`,
      "- name: unused\n  script: [{ answer: { text: a } }, { answer: { text: b } }]\n",
      "- name: unexpected\n  script: []\n  expect: { text: a }\n",
      `- name: right\n${script(list, "{ text: Done., tools: [{ tool: list_files, input: { path: . } }], result: completed }")}`,
    ].join(""),
  });
  const { json } = await world.cli("test", "skills/greet", "--json");
  const problems = Object.fromEntries(
    json.cases.map(({ name, problems: told }: { name: string; problems: string[] }) => [name, told]),
  );
  expect(problems).toEqual({
    refused: ["expected it to be refused because of `access`, but it was not"],
    tools: ["expected calls of the tools\n  read_file\nbut got\n  list_files"],
    input: ['expected the input of call 1 (`list_files`)\n  {"path":"src"}\nbut got\n  {"path":"."}'],
    denied: [
      expect.stringMatching(/^expected call 1 \(`list_files`\) not to be carried out, but the result was/),
    ],
    answer: [
      expect.stringMatching(/^expected the answer\n {2}\{"excludes":"Done"\}/),
      expect.stringMatching(/^expected the result of call 1 \(`list_files`\)\n/),
    ],
    result: [
      expect.stringMatching(/^expected the run to end as `limited`, but it ended as `completed`/),
      "expected the run to reach the limit of time, but it reached none",
      "expected the files a.txt, but got (none)",
    ],
    unused: [expect.stringMatching(/^The script `greet` has 2 turns, but the model was asked only 1 times/)],
    unexpected: [expect.stringMatching(/^The script `greet` has 0 turns, but the model was asked once more/)],
    right: [],
  });
});

test("what a case gives reaches the skill: arguments, input, who asks, values and files", async () => {
  const more = `access:\n  chat-types: [private]\ninput-schema:\n  type: object\n  properties: { topic: { type: string } }\n  required: [topic]`;
  const world = withTests(
    {
      "given.test.yaml": `
- name: input is checked
  input: { topic: 7 }
  expect: { refused: input }
- name: the chat is checked
  input: { topic: tides }
  caller: { chat-type: group }
  expect: { refused: access }
- name: a file is in the working folder
  input: { topic: tides }
  arguments: Ada
  message: Read it.
  files: { notes/a.txt: The tide is high. }
  script:
    - expect: { system: Greet Ada., last-user-text: { contains: [Read it., tides] } }
      answer: { tool-calls: [{ tool: read_file, input: { path: notes/a.txt } }] }
    - expect: { tool-result: The tide is high. }
      answer: { text: High. }
  expect: { text: { equals: High. }, tools: [read_file] }
- name: a file stays in the working folder
  input: { topic: tides }
  files: { ../a.txt: out }
  script: []
  expect: { refused: false }
`,
    },
    more,
  );
  world.write({
    "home/.metier/config.toml": `[skills]\ntrusted-paths = [${JSON.stringify(join(world.project, "skills"))}]\n`,
  });
  const { json } = await world.cli("test", "skills/greet", "--json");
  const failed = json.cases.filter(({ passed }: { passed: boolean }) => !passed);
  expect(failed).toMatchObject([{ name: "a file stays in the working folder" }]);
  expect(failed[0].problems).toEqual([expect.stringMatching(/^In `files`: the path `\.\.\/a\.txt` /)]);
});

test("a test file that cannot be used fails, with its line and what was meant", async () => {
  const world = withTests({
    "bad.test.yaml": "- name: a\n  argument: Ada\n  expect: { text: x }\n",
    "good.test.yaml": GOOD,
  });
  expect(await world.cli("test", "skills", "--filter", "by name")).toMatchObject({ code: 1 });
  const { code, stdout } = await world.cli("test", "skills");
  expect(code).toBe(1);
  expect(stdout).toContain(`  ✗ tests/bad.test.yaml  skills/greet/tests/bad.test.yaml:2
      line 2: The key \`argument\` is unknown here. Did you mean \`arguments\`?`);
  expect(stdout).toContain("✓ greets by name");
});

test("a skill that cannot be loaded is told, and is no success", async () => {
  const world = withTests({ "good.test.yaml": GOOD });
  world.write({ "project/skills/broken/SKILL.md": "---\nname: [\n---\n" });
  const { code, stdout, stderr } = await world.cli("test", "skills");
  expect(stdout).toContain("all passed: 1 of 1 case of 1 skill passed.");
  expect(stderr).toContain("broken/SKILL.md");
  expect(code).toBe(1);
  expect((await world.cli("test", "skills", "--json")).json.diagnostics).toHaveLength(1);
});

describe("what is tested", () => {
  test("skills are named by path or by name, and cases are filtered", async () => {
    const world = withTests({ "a.test.yaml": GOOD, "b.test.yaml": WRONG });
    world.write({ "project/skills/other/SKILL.md": skill("other") });
    const byFile = await world.cli("test", "skills/greet/SKILL.md", "--filter", "BY NAME", "--json");
    expect(byFile).toMatchObject({ code: 0, json: { passed: 1, failed: 0 } });
    const byName = await world.cli("test", "greet", "--path", "skills", "--filter", "loudly", "--json");
    expect(byName).toMatchObject({ code: 1, json: { passed: 0, failed: 1 } });
    const all = await world.cli("test", "skills", "--filter", "by name");
    expect(all.stdout).toContain("Without tests: other.");
    expect(await world.cli("test", "nobody")).toMatchObject({ code: 1 });
    expect((await world.cli("test", "./nowhere")).stderr).toContain("nowhere");
  });

  test("a flat skill has the test files that begin with its name", async () => {
    const world = createWorld();
    world.write({
      "project/flat/greet.md": skill("greet", "", "Greet $ARGUMENTS."),
      "project/flat/other.md": skill("other"),
      "project/flat/tests/greet.test.yaml": GOOD,
    });
    const { json } = await world.cli("test", "flat", "--json");
    expect(json).toMatchObject({ passed: 1, failed: 0, untested: ["other"] });
  });

  test("that there is no test is said, and is not success", async () => {
    const world = withTests({});
    const { code, stdout } = await world.cli("test", "skills");
    expect(stdout).toBe(
      "No tests found. Without tests: greet. A test is a file `tests/<name>.test.yaml` next to the skill's `SKILL.md`.\n",
    );
    expect(code).toBe(1);
    const filtered = await withTests({ "a.test.yaml": GOOD }).cli("test", "skills", "--filter", "zzz");
    expect(filtered.stdout).toBe(
      "None of 1 case matches the filter, which checks the names of cases and skills.\n",
    );
    expect(filtered.code).toBe(1);
  });

  test("that there is no skill is said, and is not success", async () => {
    const world = createWorld();
    world.write({ "project/sub/notes.txt": "no skill" });
    const { code, stderr } = await world.cli("test", "sub");
    expect(stderr).toContain(`No skill found in \`${join(world.project, "sub")}\`.`);
    expect(code).toBe(1);
  });
});

test("the report is JUnit XML for build servers, whatever stands in it", async () => {
  const world = withTests({ "a.test.yaml": GOOD, "b.test.yaml": WRONG.replace("loudly", '<b> & "loudly"') });
  const { code, stdout } = await world.cli("test", "skills", "--format", "junit");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="metier test" tests="2" failures="1">/,
  );
  expect(stdout).toContain(
    '<testcase name="greets by name" classname="greet" file="skills/greet/tests/a.test.yaml"',
  );
  expect(stdout).toContain('name="greets &lt;b&gt; &amp; &quot;loudly&quot;"');
  expect(stdout.match(/<failure /g)).toHaveLength(1);
});

describe("trust", () => {
  const CALL = `- name: calls bash
  script:
    - answer: { tool-calls: [{ tool: bash, input: { command: "echo hi" } }] }
    - answer: { text: Done. }
  expect: { tools: [{ tool: bash, denied: true }] }
`;

  test("the tests of an untrusted skill give it nothing", async () => {
    const world = withTests({ "a.test.yaml": CALL }, "allowed-tools: bash");
    expect(await world.cli("test", "skills")).toMatchObject({ code: 0 });
    const wishful = withTests({ "a.test.yaml": CALL.replace("  script:", "  approve: all\n  script:") });
    expect((await wishful.cli("test", "skills")).stdout).toContain("The key `approve` is unknown here.");
  });

  const READ = `- name: reads what it is given, and changes a part of it
  files: { ./a.txt: Hello., b.txt: Old. }
  script:
    - answer: { tool-calls: [{ tool: read_file, input: { path: a.txt } }] }
    - expect: { tool-result: Hello. }
      answer:
        tool-calls:
          - { tool: write_file, input: { path: b.txt, content: New. } }
          - { tool: write_file, input: { path: c.txt, content: More. } }
    - answer: { text: Done. }
  expect:
    tools: [read_file, write_file, write_file]
    result: { files: [b.txt, c.txt] }
`;

  test.each([true, false])("files of a case are there for its run (trusted: %s)", async (trusted) => {
    const world = withTests({ "a.test.yaml": READ });
    const paths = `[skills]\ntrusted-paths = [${JSON.stringify(join(world.project, "skills"))}]\n`;
    if (trusted) world.write({ "home/.metier/config.toml": paths });
    const { code, stdout } = await world.cli("test", "skills", "--approve");
    expect(stdout).toContain("all passed");
    expect(code).toBe(0);
  });

  test("a run that fails for want of trust says how to give it, once, and that helps", async () => {
    const call = CALL.replace(", denied: true", "");
    const world = withTests(
      { "a.test.yaml": `${call}${call.replace("calls", "again calls")}` },
      "allowed-tools: bash",
    );
    const { code, stdout } = await world.cli("test", "skills");
    expect(code).toBe(1);
    expect(stdout.match(/`greet` is not trusted here/g)).toHaveLength(1);
    const trusting = `metier trust greet --path ${join(world.project, "skills")}`;
    expect(stdout).toContain(`\`${trusting}\``);
    const { stdout: junit } = await world.cli("test", "skills", "--format", "junit");
    expect(junit).toContain(trusting);
    expect(await world.cli("trust", "greet", "--path", "skills")).toMatchObject({ code: 0 });
    expect((await world.cli("test", "skills")).stdout).not.toContain("is not trusted here");
  });

  test("what the user's config denies stays denied for a trusted one", async () => {
    const world = withTests({ "a.test.yaml": CALL }, "allowed-tools: bash");
    const paths = `[skills]\ntrusted-paths = [${JSON.stringify(join(world.project, "skills"))}]\n`;
    world.write({ "home/.metier/config.toml": `${paths}[tools]\nbash = "deny"\n` });
    expect(await world.cli("test", "skills", "--approve")).toMatchObject({ code: 0 });
  });

  test("values of the user's config do not reach a test", async () => {
    const text = `- name: needs a key
  script: []
  expect: { refused: environment }
- name: has the key of the case
  env: { GREET_KEY: key-of-the-case }
  script: [{ answer: { text: Done. } }]
`;
    const world = withTests({ "a.test.yaml": text }, "env: [GREET_KEY]");
    const paths = `[skills]\ntrusted-paths = [${JSON.stringify(join(world.project, "skills"))}]\n`;
    world.write({ "home/.metier/config.toml": `${paths}[skills.greet]\nGREET_KEY = "not-for-tests"\n` });
    const { code, stdout } = await world.cli("test", "skills");
    expect(stdout).toContain("all passed: 2 of 2 cases");
    expect(stdout).not.toContain("not-for-tests");
    expect(code).toBe(0);
  });
});

test("a case whose files cannot all be written fails with the reason, and the others go on", async () => {
  const script = "  script: [{ answer: { text: Done. } }]\n";
  const world = withTests({
    "a.test.yaml": `- name: clash\n  files: { notes: one, notes/more: two }\n${script}${GOOD}`,
  });
  const { code, json } = await world.cli("test", "skills", "--json");
  expect(code).toBe(1);
  expect(json).toMatchObject({ passed: 1, failed: 1 });
  expect(json.cases[0].problems).toEqual([
    expect.stringMatching(/^In `files`: `notes\/more` cannot be written \(E\w+\)\./),
  ]);
});
