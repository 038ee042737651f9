/**
 * Texts without this machine's folders: known server folders are replaced by short names, even if a path is split
 * between two pieces of text. Paths that reveal nothing, such as `/etc/hosts`, stay.
 */
import { realPathOr } from "@metier/base/places";
import { openHiddenFolders } from "./hidden-folders.ts";

export interface PathHider {
  /** From now on, show this folder by that name. */
  hide(folder: string | undefined, shown: string): void;
  /** In one complete text. */
  clean(text: string): string;
  /** In all texts of a plain value, including field names. */
  cleanJson(value: unknown): unknown;
  /** The certain part of the next piece of text. The rest is held back, because it may be the start of a path. */
  push(piece: string): string;
  /** The rest of that text. */
  end(): string;
}

/** As deep as redaction goes. */
const DEEPEST = 200;
/** Replaces values that are nested too deeply. */
export const NESTED_TOO_DEEPLY = "[nested too deeply]";

export function createPathHider(): PathHider {
  const folders = openHiddenFolders();
  let held = "";
  let last = "";
  const replace = (text: string, before: string): string => {
    if (!mayHoldPath(text)) return text;
    const pieces: string[] = [];
    let from = 0;
    for (let at = folders.next(text, 0); at < text.length; ) {
      const found = folders.find(text, at, before);
      if (found !== undefined) {
        pieces.push(text.slice(from, at), found.shown);
        from = at + found.folder.length;
      }
      at = folders.next(text, found ? from : at + 1);
    }
    return from === 0 ? text : pieces.join("") + text.slice(from);
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
      folders.add(folder, shown);
      folders.add(realPathOr(folder), shown); // A link to it, such as `/tmp` on macOS, is another path to the same folder.
    },
    clean,
    cleanJson: (value) => cleanJson(value),
    push(piece) {
      const text = held + piece;
      const from = folders.beginAtEnd(text);
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
