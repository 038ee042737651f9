/**
 * Texts without the folders of this machine: a folder that is known to be the server's own is replaced by a short name, also
 * where a path is split between two pieces of a text. Paths that say nothing about the machine, `/etc/hosts`, stay.
 */
import { isAbsolute } from "node:path";
import { realPathOr } from "@metier/base/places";

export interface PathHider {
  /** From now on, this folder is shown as that name. */
  hide(folder: string | undefined, shown: string): void;
  /** In one whole text. */
  clean(text: string): string;
  /** In all texts of a plain value, names of fields included. */
  cleanJson(value: unknown): unknown;
  /** The next piece of a text: what of it is certain. The rest is held back, since it may be the beginning of a path. */
  push(piece: string): string;
  /** The rest of that text. */
  end(): string;
}

/** One segment, like `/app`, is hidden only where a path begins there: it may be a part of an address. */
const ONE_SEGMENT = /^[\\/][^\\/]+$/;
const NAME_BEFORE = /[\w.~-]/;
const NAME_AFTER = /[\w-]/;
/** As far as redaction goes. */
const DEEPEST = 200;
/** Stands where a value goes deeper than anybody looks. */
export const NESTED_TOO_DEEPLY = "[nested too deeply]";

export function createPathHider(): PathHider {
  /** The longest first: a folder inside another one has its own name. */
  let roots: readonly (readonly [folder: string, shown: string])[] = [];
  let held = "";
  let last = "";
  const add = (folder: string, shown: string): void => {
    const plain = folder.replace(/[\\/]+$/, "");
    if (plain === "" || !isAbsolute(plain) || roots.some(([known]) => known === plain)) return;
    roots = [...roots, [plain, shown] as const].sort(([a], [b]) => b.length - a.length);
  };
  const replace = (text: string, before: string): string => {
    if (!mayHoldPath(text)) return text;
    let cleaned = "";
    for (let at = 0; at < text.length; ) {
      const found = roots.find(([folder]) => beginsAt(folder, text, at, before));
      cleaned += found ? found[1] : text[at];
      at += found ? found[0].length : 1;
    }
    return cleaned;
  };
  const clean = (text: string): string => replace(text, "");
  const cleanJson = (value: unknown, depth = 0): unknown => {
    if (typeof value === "string") return clean(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth > DEEPEST) return NESTED_TOO_DEEPLY;
    if (Array.isArray(value)) return value.map((item) => cleanJson(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [clean(key), cleanJson(item, depth + 1)]),
    );
  };
  const give = (text: string): string => {
    const cleaned = replace(text, last);
    last = text.at(-1) ?? last;
    return cleaned;
  };
  return {
    hide(folder, shown) {
      if (folder === undefined) return;
      add(folder, shown);
      add(realPathOr(folder), shown); // A link to it, such as `/tmp` on macOS, is another text for the same folder.
    },
    clean,
    cleanJson: (value) => cleanJson(value),
    push(piece) {
      const text = held + piece;
      const from = beginOfPath(text, roots);
      held = text.slice(from);
      return give(text.slice(0, from));
    },
    end() {
      const rest = give(held);
      held = "";
      last = "";
      return rest;
    },
  };
}

function mayHoldPath(text: string): boolean {
  return text.includes("/") || text.includes("\\");
}

function beginsAt(folder: string, text: string, at: number, before: string): boolean {
  if (!text.startsWith(folder, at) || NAME_AFTER.test(text[at + folder.length] ?? "")) return false;
  return !ONE_SEGMENT.test(folder) || !NAME_BEFORE.test(at === 0 ? before : (text[at - 1] ?? ""));
}

/** Where the end of the text may be the beginning of a hidden folder; its length when it is not. */
function beginOfPath(text: string, roots: readonly (readonly [string, string])[]): number {
  const longest = roots[0]?.[0].length ?? 0;
  for (let at = Math.max(0, text.length - longest); at < text.length; at += 1) {
    const code = text[at];
    if (roots.some(([folder]) => folder[0] === code && folder.startsWith(text.slice(at)))) return at;
  }
  return text.length;
}
