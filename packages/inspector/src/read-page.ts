/** The built page as files by path. Read once, on the first request. */
import { extname } from "node:path";
import { type ExportedView, exportPage } from "./export-page.ts";
import { readPageFiles } from "./page-files.ts";

export interface PageFile {
  readonly body: Buffer;
  /** For `Content-Type`. */
  readonly type: string;
  /** Files with a digest in their name never change. */
  readonly cache: "revalidate" | "immutable";
}

interface Page {
  find(path: string): PageFile | undefined;
  /** A view with its answers as one file. */
  exportView(view: ExportedView): string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** `index.html` and `assets/…`. Throws if this build has no page. */
export function readPage(): Page {
  const files = new Map<string, PageFile>();
  for (const { path, body } of readPageFiles()) {
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    const cache = /-[A-Z0-9]{8}\.\w+$/.test(path) ? "immutable" : "revalidate";
    files.set(path, { body, type, cache });
  }
  return { find: (path) => files.get(path), exportView: exportPage };
}
