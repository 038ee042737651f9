import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { check, fields, findings, manifestOf } from "./parsed-skill.ts";

verifies(["case 22", 49], "each unknown field is named with its line, beside fields that are known", () => {
  const checked = check(fields({ descripton: "x", license: "MIT", category: "y" }));
  expect(checked.diagnostics).toMatchObject([
    { code: "field.unknown", severity: "warning", line: 4, message: expect.stringContaining("`descripton`") },
    { code: "field.unknown", severity: "warning", line: 6, message: expect.stringContaining("`category`") },
  ]);
  expect(checked.diagnostics[0]?.hint).toContain("Did you mean `description`?");
  expect(checked.diagnostics[1]?.hint).toContain("`metadata`");
  expect(checked.manifest).toBeDefined();
});

verifies([46, "case 23"], "`strict` refuses every field that is not one of the six", () => {
  for (const key of ["bogus_field", "toolsets", "triggers", "model", "version", "allowed_tools", "Name"]) {
    const checked = check(fields({ [key]: "x" }), "strict");
    expect(checked.valid, key).toBe(false);
    expect(checked.manifest, key).toBeUndefined();
  }
  const six = fields({ license: "MIT", compatibility: "Any", metadata: { a: "b" }, "allowed-tools": "Read" });
  expect(findings(check(six, "strict"))).toEqual([]);
});

test("`tools` is not guessed at, but the fields it may mean are named", () => {
  const checked = check(fields({ tools: ["Read"] }));
  expect(checked.manifest?.allowedTools).toBeUndefined();
  expect(checked.diagnostics[0]?.hint).toContain("`allowed-tools` or `required-tools`");
});

test("a field in another letter case is read with a warning", () => {
  const checked = check({ Name: "demo", Description: "Text." });
  expect(checked.manifest).toMatchObject({ name: "demo", description: "Text." });
  expect(findings(checked)).toEqual(["warning field.case", "warning field.case"]);
});

test("a field in another letter case is unknown beside the field itself", () => {
  const checked = check(fields({ Name: "other" }));
  expect(checked.manifest?.name).toBe("demo");
  expect(findings(checked)).toEqual(["warning field.unknown"]);
});

verifies([19, 18, "case 21"], "allowed tools are a line or a list", () => {
  const tools = ["Bash(git log:*)", "Read", "Write"];
  for (const written of ["Bash(git log:*) Read Write", "Bash(git log:*), Read,Write", tools]) {
    const checked = check(fields({ "allowed-tools": written }));
    expect(checked.manifest?.allowedTools).toEqual(tools);
    expect(findings(checked)).toEqual([]);
  }
});

test("`strict` refuses a list of tools and warns of commas", () => {
  expect(findings(check(fields({ "allowed-tools": ["Read"] }), "strict"))).toEqual(["warning tools.list"]);
  expect(findings(check(fields({ "allowed-tools": "Read, Write" }), "strict"))).toEqual([
    "warning tools.commas",
  ]);
  expect(findings(check(fields({ "allowed-tools": "Bash(a, b) Read" }), "strict"))).toEqual([]);
});

test("a tool pattern that cannot be read is reported and kept, so that the list never becomes empty", () => {
  const checked = check(fields({ "allowed-tools": "Bash(git:* Read" }));
  expect(findings(checked)).toEqual(["warning tools.malformed"]);
  expect(checked.manifest?.allowedTools).toEqual(["Bash(git:* Read"]);
  expect(check(fields({ "allowed-tools": { Bash: true } })).manifest?.allowedTools).toEqual(["Bash"]);
  expect(check(fields({ "allowed-tools": false })).manifest?.allowedTools).toEqual(["false"]);
});

verifies(
  [32, 50, "case 25"],
  "a capability without a namespace is an error and left out; the skill loads",
  () => {
    const checked = check(fields({ capabilities: ["email", "gog.calendar"] }));
    expect(findings(checked)).toEqual(["error capability.not-namespaced"]);
    expect(checked.valid).toBe(false);
    expect(checked.manifest?.capabilities).toEqual(["gog.calendar"]);
  },
);

verifies(30, "names that no environment variable can have are left out", () => {
  const checked = check(fields({ env: ["API_KEY", "api_key", "2X", "A-B"], requires: { env: ["home"] } }));
  expect(checked.manifest?.env).toEqual(["API_KEY"]);
  expect(checked.manifest?.requires.env).toEqual([]);
  expect(findings(checked)).toEqual(Array(4).fill("warning env.name"));
});

verifies(
  [29, "case 26"],
  "an unknown key under `access` is an error, and the skill counts as sensitive",
  () => {
    for (const access of [{ chat_typs: ["group"] }, "private", ["private"], { chat_types: { a: 1 } }]) {
      const checked = check(fields({ access }));
      expect(findings(checked)).toContain("error access.unclear");
      expect(checked.manifest).toMatchObject({ sensitive: true, chatTypes: [] });
    }
  },
);

verifies(29, "chat types are read in lower case, in every spelling", () => {
  for (const key of ["chat-types", "chat_types", "chatTypes"]) {
    expect(manifestOf(fields({ access: { [key]: ["Private", "group"] } })).chatTypes).toEqual([
      "private",
      "group",
    ]);
  }
});

verifies(40, "a plain list of triggers is one of keywords, and broken patterns are left out", () => {
  expect(manifestOf(fields({ triggers: ["pdf", "text file"] })).triggers?.keywords).toEqual([
    "pdf",
    "text file",
  ]);
  const checked = check(fields({ triggers: { patterns: ["(", "^a$"] } }));
  expect(checked.manifest?.triggers?.patterns).toEqual(["^a$"]);
  expect(findings(checked)).toEqual(["warning trigger.pattern"]);
});

verifies(39, "toolsets stay inside the skill's folder", () => {
  const good = "tools/index:Tools";
  const checked = check(fields({ toolsets: [good, "../x:Tools", "/abs/x:Tools", "no-export", "a:b c"] }));
  expect(checked.manifest?.toolsets).toEqual([good]);
  expect(findings(checked)).toEqual(Array(4).fill("warning toolset.malformed"));
});

verifies(31, "packages are names as Debian has them; anything else is left out, with its line", () => {
  const good = ["jq", "g++", "libssl3", "python3.11-venv", "7zip", "a+"];
  const bad = [
    "x",
    "JQ",
    "jq=1.6",
    "jq:amd64",
    "jq;reboot",
    "$(id)",
    "--option",
    "-jq",
    "+x",
    "jq-",
    "a_b",
    "*",
  ];
  const checked = check(fields({ packages: [...good, ...bad, "a".repeat(129)] }));
  expect(checked.manifest?.packages).toEqual(good);
  expect(findings(checked)).toEqual(Array(bad.length + 1).fill("warning package.name"));
  expect(checked.diagnostics[2]).toMatchObject({
    line: 4,
    message: expect.stringContaining("`jq=1.6`"),
    hint: expect.stringContaining("without a version"),
  });
  expect(check(fields({ packages: "jq ripgrep" })).manifest?.packages).toEqual(["jq", "ripgrep"]);
});
