/** The index of the next listing, written piece by piece to a file that replaces the old one when it is complete. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { beginReplacing, type Replacement, removeLeftovers } from "@metier/base/files";
import { indexBeginning, indexEnd, type PlainSearch } from "./index-file.ts";

interface NewIndexFile {
  write(text: string): void;
  finish(search: PlainSearch | undefined): void;
  drop(): void;
}

/**
 * A reader sees the complete old index or the complete new one; the last of two writers wins. Without space or
 * permission there is none, and the next listing is as slow as this one.
 */
export function newIndexFile(path: string, heading: string): NewIndexFile {
  const startedAt = Date.now();
  let file: Replacement | undefined;
  let length = 0;
  let isBroken = false;
  const attempt = (step: () => void): void => {
    if (isBroken) return;
    try {
      step();
    } catch {
      isBroken = true;
    }
  };
  const write = (text: string): void =>
    attempt(() => {
      if (file === undefined) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        removeLeftovers(path);
        file = beginReplacing(path, { flush: false });
        add(file, indexBeginning(heading, startedAt));
      }
      add(file, text);
    });
  const add = (opened: Replacement, text: string): void => {
    opened.write(text);
    length += text.length;
  };
  const drop = (): void => {
    try {
      file?.drop();
    } catch {
      // The next one removes it.
    }
  };
  return {
    write,
    finish(search) {
      write(""); // Also one without entries has a beginning.
      write(indexEnd(search, length));
      attempt(() => void file?.finish());
      drop();
    },
    drop,
  };
}
