/**
 * One assertion of an eval, in every form people write: a sentence, `script: …`, `{ "text": … }`, a named check
 * (`{ "contains": … }`) or a typed one (`{ "type": "contains", "value": … }`).
 */
import { splitCommand } from "../../config/split-command.ts";
import { compileExactPattern } from "../../find/trigger-pattern.ts";
import { showValue } from "../../validate/report.ts";
import type { Assertion, Check, TextCheckKind } from "../eval-set.ts";
import { isRecord, isText } from "./json-file.ts";

export type AssertionReading =
  | { readonly ok: true; readonly assertion: Assertion }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/** By every spelling. `check` is what other runners call a script. */
const KINDS: Readonly<Record<string, Check["kind"]>> = {
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

const MODEL_TYPES: ReadonlySet<string> = new Set(["model", "llm", "llm-judge", "llm-rubric", "rubric"]);

const HINT = `Write a sentence, or an object with \`text\` and at most one check of ${Object.keys(KINDS).join(", ")}.`;

export function readAssertion(value: unknown): AssertionReading {
  if (isText(value)) return readSentence(value.trim());
  if (!isRecord(value)) return wrong(`An assertion is ${showValue(value)}; it must be a text or an object`);
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
function readSentence(text: string): AssertionReading {
  const command = /^(?:script|check):\s*(.+)$/is.exec(text)?.[1];
  if (command !== undefined) return readCheck("script", command, new Map([["text", text]]));
  return { ok: true, assertion: { text, check: { kind: "model" } } };
}

type Fields = ReadonlyMap<string, unknown>;

function readTyped(type: unknown, fields: Fields): AssertionReading {
  const name = typeof type === "string" ? normalise(type) : "";
  if (MODEL_TYPES.has(name)) return readStatement(fields);
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind === undefined) return wrong(`An assertion has the type ${showValue(type)}, which is not known`);
  return readCheck(kind, fields.get("value") ?? fields.get("command") ?? fields.get("path"), fields);
}

function readStatement(fields: Fields): AssertionReading {
  const text = statementOf(fields) ?? fields.get("value");
  if (!isText(text)) return wrong("An assertion says nothing: it has neither `text` nor a check");
  return { ok: true, assertion: { text: text.trim(), check: { kind: "model" } } };
}

function readCheck(kind: Check["kind"], value: unknown, fields: Fields): AssertionReading {
  if (kind === "script") return readScript(value, fields);
  if (!isText(value)) return wrong(`\`${kind}\` is ${showValue(value)}; it must be a text that is not empty`);
  const said = statementOf(fields);
  if (kind === "file-exists" || kind === "file-absent") {
    const text = said ?? `The file ${value} ${kind === "file-exists" ? "exists" : "does not exist"}`;
    return { ok: true, assertion: { text, check: { kind, file: value } } };
  }
  const file = fields.get("file") ?? fields.get("in");
  if (file !== undefined && !isText(file))
    return wrong(`\`file\` is ${showValue(file)}; it must name a file`);
  if (kind === "regex" || kind === "not-regex") {
    const pattern = compileExactPattern(value);
    if (!pattern.ok) return wrong(`The pattern ${showValue(value)} cannot be used: ${pattern.fault}`);
  }
  const text = said ?? `${file ?? "The answer"} ${WORDS[kind as TextCheckKind]} ${JSON.stringify(value)}`;
  const check = { kind: kind as TextCheckKind, value, ...(file !== undefined && { file }) };
  return { ok: true, assertion: { text, check } };
}

const WORDS: Readonly<Record<TextCheckKind, string>> = {
  contains: "contains",
  "not-contains": "does not contain",
  equals: "is exactly",
  regex: "matches",
  "not-regex": "does not match",
};

/** What runs a script is decided by the script: these may stand before it, as people write commands. */
const INTERPRETERS: ReadonlySet<string> = new Set(["node", "python", "python3", "bash", "sh"]);

function readScript(value: unknown, fields: Fields): AssertionReading {
  const words = isText(value) ? splitCommand(value) : value;
  if (!Array.isArray(words) || words.length === 0 || !words.every((word) => typeof word === "string")) {
    return wrong(`\`script\` is ${showValue(value)}; it must be a script with its arguments`);
  }
  const given = fields.get("args") ?? [];
  if (!Array.isArray(given) || !given.every((word) => typeof word === "string")) {
    return wrong(`\`args\` is ${showValue(given)}; it must be a list of texts`);
  }
  const [script = "", ...args] =
    INTERPRETERS.has(words[0] ?? "") && words.length > 1 ? words.slice(1) : words;
  const text = statementOf(fields) ?? `script: ${[...words, ...given].join(" ")}`;
  return { ok: true, assertion: { text, check: { kind: "script", script, args: [...args, ...given] } } };
}

function statementOf(fields: Fields): string | undefined {
  const names = ["text", "assertion", "expectation", "description", "name"];
  return names.map((name) => fields.get(name)).find(isText);
}

function normalise(key: string): string {
  return key.trim().toLowerCase().replaceAll("_", "-");
}

function wrong(what: string): AssertionReading {
  return { ok: false, message: `${what}.`, hint: HINT };
}
