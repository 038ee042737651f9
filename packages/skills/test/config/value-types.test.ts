import { describe, expect, test } from "vitest";
import { PLUGINS } from "../../src/config/skill-fields.ts";
import {
  ALLOW_LISTS,
  BOOLEAN,
  COMMAND,
  ENVIRONMENT_VALUE,
  integer,
  oneOf,
  PATH,
  PATHS,
  PROJECT_PATHS,
  SCOPE_ORDER,
  splitCommand,
  TEXT,
  TEXTS,
  type ValueType,
  WEB_ADDRESS,
} from "../../src/config/value-types.ts";

const CONTEXT = { home: "/home/me", base: "/work" };

type Case = readonly [name: string, type: ValueType, raw: unknown, value: unknown];

describe("a value of a file", () => {
  test.each<Case>([
    ["a boolean", BOOLEAN, true, true],
    ["a trimmed text", TEXT, " x ", "x"],
    ["a whole number within its bounds", integer(1, 5, "seconds"), 5, 5],
    ["one of several words", oneOf("a", "b"), "b", "b"],
    ["a list of texts", TEXTS, ["a", 12, " "], ["a", "12"]],
    ["a single text for a list", TEXTS, "a", ["a"]],
    ["an allow list", ALLOW_LISTS, ["a"], [["a"]]],
    ["an empty allow list, which allows all", ALLOW_LISTS, [], []],
    ["an address", WEB_ADDRESS, " https://example.com/npm ", "https://example.com/npm"],
    ["a path below home", PATH, "~/x", "/home/me/x"],
    ["paths", PATHS, ["~", "a/../b", "/c"], ["/home/me", "/work/b", "/c"]],
    [
      "project paths, which stay relative",
      PROJECT_PATHS,
      ["a/./b", "~/c", "/d"],
      ["a/b", "/home/me/c", "/d"],
    ],
    ["a command as a list", COMMAND, ["a", "b c"], ["a", "b c"]],
    ["a command as a text", COMMAND, "a 'b c'", ["a", "b c"]],
    ["a secret variable", ENVIRONMENT_VALUE, "x", { value: "x", secret: true }],
    ["an empty variable", ENVIRONMENT_VALUE, "", { value: "", secret: true }],
    ["a variable that is a number", ENVIRONMENT_VALUE, 8080, { value: "8080", secret: true }],
    [
      "a variable that is no secret",
      ENVIRONMENT_VALUE,
      { value: "x", secret: false },
      { value: "x", secret: false },
    ],
    [
      "a variable that a command prints",
      ENVIRONMENT_VALUE,
      { command: ["pass", "show", "x"] },
      { command: ["pass", "show", "x"], secret: true },
    ],
    [
      "a variable of the key chain",
      ENVIRONMENT_VALUE,
      { keychain: "mail/me/work", secret: false },
      { keychain: { service: "mail", account: "me/work" }, secret: false },
    ],
    ["a plugin by its address", PLUGINS, ["https://x"], [{ url: "https://x", enabled: true }]],
    [
      "a plugin's date",
      PLUGINS,
      [{ url: "https://x", installed_at: new Date("2024-01-05T10:30:00Z") }],
      [{ url: "https://x", enabled: true, installedAt: "2024-01-05T10:30:00.000Z" }],
    ],
    [
      "an order, in which scopes not named are lowest",
      SCOPE_ORDER,
      ["project", "user"],
      ["remote", "bundled", "integration", "installed", "custom", "project", "user"],
    ],
  ])("may be %s", (_, type, raw, value) => {
    expect(type.read(raw, CONTEXT)).toEqual(value);
  });

  test.each<readonly [string, ValueType, unknown]>([
    ["a text for a boolean", BOOLEAN, "true"],
    ["an empty text", TEXT, "  "],
    ["a number out of bounds", integer(1, 5, "seconds"), 6],
    ["a fraction", integer(1, 5, "seconds"), 1.5],
    ["a word that is not among them", oneOf("a"), "A"],
    ["a list with a table in it", TEXTS, [{}]],
    ["a table for a list", TEXTS, {}],
    ["a scope twice", SCOPE_ORDER, ["user", "user"]],
    ["an unknown scope", SCOPE_ORDER, ["users"]],
    ["an empty command", COMMAND, []],
    ["an unclosed quote", COMMAND, "a 'b"],
    ["a command with a number", COMMAND, ["a", 1]],
    ["a variable with more than a value", ENVIRONMENT_VALUE, { value: "x", extra: 1 }],
    ["a variable that is a list", ENVIRONMENT_VALUE, ["x"]],
    ["a variable with two sources", ENVIRONMENT_VALUE, { value: "x", command: ["y"] }],
    ["a variable with no source", ENVIRONMENT_VALUE, { secret: false }],
    ["a variable of an empty command", ENVIRONMENT_VALUE, { command: [] }],
    ["a key chain without an account", ENVIRONMENT_VALUE, { keychain: "mail" }],
    ["an address with a password", WEB_ADDRESS, "https://me:secret@example.com/"],
    ["an address that is a file", WEB_ADDRESS, "file:///etc/passwd"],
    ["an address without a scheme", WEB_ADDRESS, "example.com"],
    ["a plugin without an address", PLUGINS, [{ name: "x" }]],
    ["a plugin with an unknown key", PLUGINS, [{ url: "x", branch: "y" }]],
    ["plugins that are no list", PLUGINS, { url: "x" }],
  ])("may not be %s", (_, type, raw) => {
    expect(type.read(raw, CONTEXT)).toBeUndefined();
  });
});

describe("text from outside", () => {
  test.each<Case>([
    ["yes", BOOLEAN, "Yes", true],
    ["0", BOOLEAN, "0", false],
    ["digits", integer(1, 5, "x"), " 3 ", 3],
    ["commas", TEXTS, "a, b,,c", ["a", "b", "c"]],
    ["JSON", TEXTS, '["a,b"]', ["a,b"]],
    ["nothing", TEXTS, "", []],
    ["words", COMMAND, "a b", ["a", "b"]],
    ["a JSON command", COMMAND, '["a b"]', ["a b"]],
    ["JSON plugins", PLUGINS, '[{"url": "x"}]', [{ url: "x", enabled: true }]],
    ["malformed JSON, which is refused", TEXTS, "[a", undefined],
    ["a plain word for plugins, which is refused", PLUGINS, "x", undefined],
  ])("%s is understood by the type", (_, type, text, value) => {
    expect(type.read(type.fromText(String(text)), CONTEXT)).toEqual(value);
  });
});

describe("a command in one text", () => {
  test.each([
    ["a b  c", ["a", "b", "c"]],
    [`a "b \\" c" 'd "e'`, ["a", 'b " c', 'd "e']],
    ["a\\ b --x='1 2'", ["a b", "--x=1 2"]],
    ["", []],
    ["$(rm) `x` a|b", ["$(rm)", "`x`", "a|b"]],
  ])("%j is split into words, and nothing in it is special", (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  test("with an open quote is none", () => {
    expect(splitCommand('a "b')).toBeUndefined();
  });
});
