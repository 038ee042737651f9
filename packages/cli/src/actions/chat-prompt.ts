/**
 * Input for a chat: the history of all chats (one private file, without secrets) and Tab completion for commands,
 * skills, models and `@` files.
 */
import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readBounded, writeAtomic } from "@metier/base/files";
import { isInside, type Places } from "@metier/base/places";
import type { Completion } from "../context.ts";

const MOST_ENTRIES = 500;
const MOST_CHARACTERS = 20_000;
const MAX_BYTES = 4 * 1024 * 1024;

interface TypedHistory {
  /** Newest first. */
  readonly texts: readonly string[];
  /** `text` holds no secrets. If the history can't be written, it ends with the process. */
  add(text: string): void;
}

export function openHistory({ state }: Pick<Places, "state">): TypedHistory {
  const file = join(state, "chat-history.jsonl");
  const read = readBounded(file, MAX_BYTES);
  const lines = read.ok ? read.text.split("\n").flatMap(parseEntry) : [];
  const texts = lines.slice(-MOST_ENTRIES).reverse();
  const keep = (entry: string): void => {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const isFull = lines.length >= 2 * MOST_ENTRIES || (!read.ok && read.reason === "too-large");
    if (!isFull) appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    else {
      const kept = [...texts].reverse().map((text) => JSON.stringify(text));
      writeAtomic(file, `${kept.join("\n")}\n`, { mode: 0o600 });
      lines.splice(0, lines.length - texts.length);
    }
  };
  return {
    texts,
    add(text) {
      if (texts[0] === text || text.length > MOST_CHARACTERS) return;
      texts.unshift(text);
      texts.splice(MOST_ENTRIES);
      lines.push(text);
      try {
        keep(text);
      } catch {
        // Read-only home: the history lasts until the chat ends.
      }
    },
  };
}

function parseEntry(line: string): readonly string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" && entry !== "" ? [entry] : [];
  } catch {
    return []; // A truncated last line, or an empty one.
  }
}

interface CompletionNames {
  /** What can follow a slash at the start of a message. */
  readonly commands: readonly string[];
  readonly models: readonly string[];
}

const NOTHING: Completion = { from: 0, choices: [] };

/** Completes the text before the cursor. */
export function completeTyped(before: string, names: CompletionNames, cwd: string): Completion {
  const startsWith = (from: number, choices: readonly string[]): Completion => ({
    from,
    choices: choices.filter((choice) => choice.startsWith(before.slice(from))).sort(),
  });
  if (/^\/[^\s/]*$/.test(before))
    return startsWith(
      0,
      names.commands.map((name) => `/${name}`),
    );
  const [, model] = /^\/model\s+(\S*)$/.exec(before) ?? [];
  if (model !== undefined) return startsWith(before.length - model.length, names.models);
  const [, path] = /(?:^|\s)@([^\s"]*)$/.exec(before) ?? [];
  if (path === undefined) return NOTHING;
  return startsWith(before.length - path.length, listPaths(path, cwd));
}

const MOST_PATHS = 200;

function listPaths(path: string, cwd: string): readonly string[] {
  const folder = path.endsWith("/")
    ? path
    : path === ""
      ? ""
      : dirname(path) === "."
        ? ""
        : `${dirname(path)}/`;
  const start = path.endsWith("/") ? "" : basename(path);
  const place = resolve(cwd, folder);
  if (!isInside(place, cwd)) return [];
  try {
    return readdirSync(place, { withFileTypes: true })
      .filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
      .filter(({ name }) => !/[\s"\p{C}]/u.test(name))
      .slice(0, MOST_PATHS)
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`);
  } catch {
    return []; // No such folder, so nothing to offer.
  }
}
