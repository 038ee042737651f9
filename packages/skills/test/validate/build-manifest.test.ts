import type { Json } from "@metier/base/json";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { MANIFEST_FIELDS } from "../../src/skill/manifest-fields.ts";
import { check, fields, findings, manifestOf } from "./parsed-skill.ts";

const ALL = fields({
  license: "MIT",
  compatibility: "Needs git",
  metadata: { author: "Ann", version: "1.2", tags: "pdf text", requires: "gh jq" },
  "allowed-tools": "Bash(git:*) Read",
  "disallowed-tools": "Write",
  "required-tools": ["bash"],
  "display-name": "Demo",
  "when-to-use": "When asked.",
  rationale: "It was missing.",
  model: "fast",
  effort: "high",
  "max-iterations": 7,
  "input-schema": { type: "object", required: ["file"] },
  "output-schema": { type: "object", required: ["pages"] },
  context: "fork",
  agent: "explorer",
  background: true,
  "argument-hint": "[file]",
  arguments: ["file", "format"],
  "disable-model-invocation": true,
  "user-invocable": false,
  sensitive: true,
  access: { "chat-types": ["private", "Group"] },
  env: ["API_KEY"],
  packages: ["jq"],
  capabilities: ["gog.email"],
  requires: { bins: ["git"], "any-bins": ["python3", "python"], env: ["HOME"], os: ["linux", "macos"] },
  sandbox: { network: ["example.com"], read: ["docs"], write: ["out"] },
  "opt-in": true,
  "default-enabled": false,
  paths: ["src/**"],
  shell: "bash",
  hooks: { Stop: [] },
  toolsets: ["tools/index:Tools"],
  triggers: { keywords: ["pdf"], verbs: ["read"], patterns: ["\\.pdf$"] },
  fallback: { any: "thing" },
});

const MANIFEST = {
  name: "demo",
  displayName: "Demo",
  description: "Shows the thing. Use it in tests.",
  license: "MIT",
  compatibility: "Needs git",
  metadata: { author: "Ann", version: "1.2", tags: "pdf text", requires: "gh jq" },
  version: "1.2",
  tags: ["pdf", "text"],
  authors: ["Ann"],
  rationale: "It was missing.",
  whenToUse: "When asked.",
  allowedTools: ["Bash(git:*)", "Read"],
  disallowedTools: ["Write"],
  requiredTools: ["bash"],
  model: "fast",
  effort: "high",
  maxIterations: 7,
  inputSchema: { type: "object", required: ["file"] },
  outputSchema: { type: "object", required: ["pages"] },
  context: "fork",
  agent: "explorer",
  background: true,
  argumentHint: "[file]",
  arguments: ["file", "format"],
  disableModelInvocation: true,
  userInvocable: false,
  sensitive: true,
  chatTypes: ["private", "group"],
  env: ["API_KEY"],
  packages: ["jq"],
  capabilities: ["gog.email"],
  requires: {
    bins: ["git", "gh", "jq"],
    anyBins: ["python3", "python"],
    env: ["HOME"],
    os: ["linux", "darwin"],
  },
  sandbox: { network: ["example.com"], read: ["docs"], write: ["out"] },
  optIn: true,
  defaultEnabled: false,
  paths: ["src/**"],
  shell: "bash",
  hooks: { Stop: [] },
  toolsets: ["tools/index:Tools"],
  triggers: { keywords: ["pdf"], verbs: ["read"], patterns: ["\\.pdf$"] },
  fallback: { any: "thing" },
};

verifies(
  [
    12,
    13,
    14,
    15,
    16,
    17,
    18,
    21,
    22,
    24,
    25,
    27,
    28,
    29,
    30,
    31,
    32,
    33,
    34,
    35,
    36,
    37,
    38,
    39,
    40,
    "case 2",
  ],
  "every field reaches its place in the manifest, without a complaint",
  () => {
    expect(manifestOf(ALL)).toEqual(MANIFEST);
    expect(findings(check(ALL))).toEqual([]);
  },
);

test("the table of fields has none that the example above does not prove", () => {
  const proven = new Set([...Object.keys(ALL), "version", "author", "authors", "tags", "preferred-model"]);
  expect(MANIFEST_FIELDS.map((field) => field.name).filter((name) => !proven.has(name))).toEqual([]);
});

verifies(
  [20, 21, 24, 25, "case 2"],
  "snake_case and camelCase keys give the same manifest as kebab-case",
  () => {
    const spell = (change: (key: string) => string) =>
      Object.fromEntries(Object.entries(ALL).map(([key, value]) => [change(key), value]));
    expect(manifestOf(spell((key) => key.replaceAll("-", "_")))).toEqual(MANIFEST);
    expect(manifestOf(spell((key) => key.replace(/-(.)/g, (_, letter) => letter.toUpperCase())))).toEqual(
      MANIFEST,
    );
  },
);

test("a skill with two fields has defaults for the rest", () => {
  const manifest = manifestOf(fields());
  expect(manifest).toMatchObject({
    tags: [],
    userInvocable: true,
    disableModelInvocation: false,
    optIn: false,
  });
  expect(manifest.allowedTools).toBeUndefined();
  expect(manifest.requires).toEqual({ bins: [], anyBins: [], env: [], os: [] });
});

verifies(20, "an empty list of allowed tools is kept apart from none", () => {
  expect(manifestOf(fields({ allowed_tools: [] })).allowedTools).toEqual([]);
});

verifies(23, "`preferred_model` is used when there is no `model`", () => {
  expect(manifestOf(fields({ preferred_model: "fast" })).model).toBe("fast");
  expect(manifestOf(fields({ preferred_model: "fast", model: "smart" })).model).toBe("smart");
  expect(manifestOf(fields({ preferred_model: "fast", model: null })).model).toBe("fast");
});

verifies(33, "`execution-mode` is another name for `context`", () => {
  expect(manifestOf(fields({ "execution-mode": "fork" })).context).toBe("fork");
});

test("two spellings with the same value are one field", () => {
  expect(findings(check(fields({ allowed_tools: "Read", "allowed-tools": "Read" })))).toEqual([]);
});

test.each([
  ["tools as a line and as a list", { "allowed-tools": "Read, Write", allowed_tools: ["Read", "Write"] }],
  ["a number and its text", { "max-iterations": 5, maxIterations: "5" }],
  ["a boolean and its word", { "user-invocable": false, user_invocable: "no" }],
  ["a choice in capitals", { context: "fork", "execution-mode": "Fork" }],
  ["text with blanks around it", { "display-name": "Demo", display_name: " Demo " }],
])("two spellings that mean the same are one field: %s", (_, more) => {
  expect(findings(check(fields(more)))).toEqual([]);
});

test("two spellings that cannot be read are compared as they are written", () => {
  const both = (first: Json, second: Json) =>
    findings(check(fields({ max_iterations: first, maxIterations: second })));
  expect(both("x", "y")).toEqual(["error field.wrong-type", "error field.both-spellings"]);
  expect(both("x", "x")).toEqual(["error field.wrong-type"]);
  expect(both("x", 5)).toContain("error field.both-spellings");
});

test("two spellings with different values are an error, and the field's own name wins", () => {
  const checked = check(fields({ max_iterations: 3, "max-iterations": 5 }));
  expect(findings(checked)).toEqual(["error field.both-spellings"]);
  expect(checked.valid).toBe(false);
  expect(checked.manifest?.maxIterations).toBe(5);
  expect(checked.diagnostics[0]).toMatchObject({
    line: 5,
    message: expect.stringContaining("`max_iterations` is `3`"),
  });
});

test("`default-enabled: false` is opt-in", () => {
  expect(manifestOf(fields({ defaultEnabled: false })).optIn).toBe(true);
  expect(manifestOf(fields({ defaultEnabled: true })).optIn).toBe(false);
});

test("a field without a value counts as absent", () => {
  const checked = check(fields({ model: null, "allowed-tools": null, metadata: null }));
  expect(findings(checked)).toEqual(["info field.empty", "info field.empty", "info field.empty"]);
  expect(checked.manifest?.allowedTools).toBeUndefined();
});
