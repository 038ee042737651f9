/**
 * `metier-sb store …`: the skill's store for this user, from inside the sandbox. Values are JSON on standard output.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type KeyValues, openKeyValues, StoreFault } from "./key-values.ts";

const USAGE = `metier-sb store get KEY | set KEY VALUE | delete KEY | list | clear
  VALUE is JSON; anything else is a string; - reads it from standard input.
  --global after get and list: values shared by all users of the skill; read-only here.
`;

const [DONE, NO, WRONG] = [0, 1, 2];

export function runStore(words: readonly string[]): Promise<number> {
  const isGlobal = words.includes("--global");
  const [action = "", ...rest] = words.filter((word) => word !== "--global");
  const folder = process.env.METIER_DATA_DIR;
  if (folder === undefined) return fail("this sandbox has no data folder (`$METIER_DATA_DIR`)", NO);
  if (isGlobal && action !== "get" && action !== "list")
    return fail(`\`${action}\` does not support \`--global\`\n${USAGE}`);
  const values = openKeyValues(isGlobal ? join(dirname(folder), "global") : folder, (file, reason) =>
    tell(`\`${file}\` cannot be read and was set aside: ${reason}`),
  );
  try {
    return Promise.resolve(act(action, rest, values));
  } catch (fault) {
    return fail((fault as Error).message, fault instanceof StoreFault ? WRONG : NO);
  }
}

function act(action: string, words: readonly string[], values: KeyValues): number | Promise<number> {
  const [key = "", value = ""] = words;
  const wanted = WORDS[action];
  if (wanted === undefined || words.length !== wanted) return fail(`write\n${USAGE}`);
  if (action === "get") {
    const found = values.get(key);
    if (found !== undefined) say(found);
    return found === undefined ? NO : DONE;
  }
  if (action === "delete") return values.delete(key) ? DONE : NO;
  if (action === "set") values.set(key, readValue(value === "-" ? readFileSync(0, "utf8") : value));
  else if (action === "list") say(values.all());
  else values.clear();
  return DONE;
}

/** How many words each action takes. */
const WORDS: Readonly<Record<string, number>> = { get: 1, set: 2, delete: 1, list: 0, clear: 0 };

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // Plain words are a string.
  }
}

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

function tell(message: string): void {
  process.stderr.write(`metier-sb store: ${message}\n`);
}

function fail(message: string, code: number = WRONG): Promise<number> {
  tell(message);
  return Promise.resolve(code);
}
