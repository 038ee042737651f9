/**
 * Reads one assertion of an eval in any form people write: a sentence, `script: …`, `{ "text": … }`, a named check (`{
 * "contains": … }`) or a typed one (`{ "type": "contains", "value": … }`).
 */
import { isJsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import { splitCommand } from "../config/value-types.ts";
import { compileExactPattern } from "../find/trigger-pattern.ts";
import type { Assertion, AssertionCheck, TextCheckKind } from "./eval-case.ts";
import { isFilledText } from "./read-queries.ts";

/** By every spelling. Other runners call a script `check`. */
export const KINDS: Readonly<Record<string, AssertionCheck["kind"]>> = {
  script: "script",
  check: "script",
  contains: "contains",
  includes: "contains",
  "not-contains": "not-contains",
  equals: "equals",
  regex: "regex",
  matches: "regex",
  "not-regex": "not-regex",
  "file-exists": "file-exists",
  "file-absent": "file-absent",
};

export const MODEL_TYPES: ReadonlySet<string> = new Set([
  "model",
  "llm",
  "llm-judge",
  "llm-rubric",
  "rubric",
]);

const HINT = `Write a sentence, or an object with \`text\` and at most one of the checks ${Object.keys(KINDS).join(", ")}.`;

export function readAssertion(value: unknown): Result<Assertion> {
  if (isFilledText(value)) return readSentence(value.trim());
  if (!isJsonObject(value))
    return wrong(`An assertion is ${showValue(value)}; it must be a string or an object`);
  const fields = new Map(Object.entries(value).map(([key, entry]) => [normalise(key), entry]));
  const named = [...fields.keys()].filter((key) => Object.hasOwn(KINDS, key));
  const type = fields.get("type") ?? fields.get("kind");
  if (type !== undefined && named.length === 0) return readTyped(type, fields);
  const [name, ...more] = named;
  if (more.length > 0) return wrong(`An assertion has the checks ${named.map(showValue).join(" and ")}`);
  if (name === undefined) return readStatement(fields);
  return readCheck(KINDS[name] ?? "model", fields.get(name), fields);
}

/** `script: check.mjs --strict` is a script; every other sentence is for a model to judge. */
function readSentence(text: string): Result<Assertion> {
  const command = /^(?:script|check):\s*(.+)$/is.exec(text)?.[1];
  if (command !== undefined) return readCheck("script", command, new Map([["text", text]]));
  return done({ text, check: { kind: "model" } });
}

type Fields = ReadonlyMap<string, unknown>;

function readTyped(type: unknown, fields: Fields): Result<Assertion> {
  const name = typeof type === "string" ? normalise(type) : "";
  if (MODEL_TYPES.has(name)) return readStatement(fields);
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind === undefined) return wrong(`An assertion has the unknown type ${showValue(type)}`);
  return readCheck(kind, fields.get("value") ?? fields.get("command") ?? fields.get("path"), fields);
}

function readStatement(fields: Fields): Result<Assertion> {
  const text = statementOf(fields) ?? fields.get("value");
  if (!isFilledText(text)) return wrong("An assertion is empty: it has neither `text` nor a check");
  return done({ text: text.trim(), check: { kind: "model" } });
}

function readCheck(kind: AssertionCheck["kind"], value: unknown, fields: Fields): Result<Assertion> {
  if (kind === "script") return readScript(value, fields);
  if (!isFilledText(value)) return wrong(`\`${kind}\` is ${showValue(value)}; it must be a non-empty string`);
  const said = statementOf(fields);
  if (kind === "file-exists" || kind === "file-absent") {
    const text = said ?? `The file ${value} ${kind === "file-exists" ? "exists" : "does not exist"}`;
    return done({ text, check: { kind, file: value } });
  }
  const file = fields.get("file") ?? fields.get("in");
  if (file !== undefined && !isFilledText(file))
    return wrong(`\`file\` is ${showValue(file)}; it must name a file`);
  if (kind === "regex" || kind === "not-regex") {
    const pattern = compileExactPattern(value);
    if (!pattern.ok) return wrong(`The pattern ${showValue(value)} is not valid: ${pattern.refusal}`);
  }
  const text = said ?? `${file ?? "The answer"} ${WORDS[kind as TextCheckKind]} ${JSON.stringify(value)}`;
  const check = { kind: kind as TextCheckKind, value, file };
  return done({ text, check });
}

const WORDS: Readonly<Record<TextCheckKind, string>> = {
  contains: "contains",
  "not-contains": "does not contain",
  equals: "is exactly",
  regex: "matches",
  "not-regex": "does not match",
};

/** The script decides what runs it: these may precede it, as people write commands. */
const INTERPRETERS: ReadonlySet<string> = new Set(["node", "python", "python3", "bash", "sh"]);

function readScript(value: unknown, fields: Fields): Result<Assertion> {
  const words = isFilledText(value) ? splitCommand(value) : value;
  if (!Array.isArray(words) || words.length === 0 || !words.every((word) => typeof word === "string")) {
    return wrong(`\`script\` is ${showValue(value)}; it must be a script with its arguments`);
  }
  const given = fields.get("args") ?? [];
  if (!Array.isArray(given) || !given.every((word) => typeof word === "string")) {
    return wrong(`\`args\` is ${showValue(given)}; it must be a list of strings`);
  }
  const [script = "", ...args] =
    INTERPRETERS.has(words[0] ?? "") && words.length > 1 ? words.slice(1) : words;
  const text = statementOf(fields) ?? `script: ${[...words, ...given].join(" ")}`;
  return done({ text, check: { kind: "script", script, args: [...args, ...given] } });
}

/** An assertion's words, under any of their names. */
export const STATEMENT_FIELDS = ["text", "assertion", "expectation", "description", "name"] as const;

function statementOf(fields: Fields): string | undefined {
  return STATEMENT_FIELDS.map((name) => fields.get(name)).find(isFilledText);
}

function normalise(key: string): string {
  return key.trim().toLowerCase().replaceAll("_", "-");
}

function wrong(what: string): Result<never> {
  return refused({ message: `${what}.`, hint: HINT });
}
