/** The documentation site, built and served below a path on loopback, as a static host would. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll } from "vitest";
import { ROOT } from "./repository.ts";

/** Not the root, so that an address that ignores the base leads nowhere. */
const BASE = "/metier/";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Builds the site and serves it until the tests of the file are done. @returns the address of the front page */
export async function startDocsSite(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "metier-docs-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  await buildSite(folder);
  return serveSite(folder);
}

/** A link that leads nowhere makes it fail. */
async function buildSite(folder: string): Promise<void> {
  const program = join(ROOT, "node_modules/vitepress/bin/vitepress.js");
  const env = { ...process.env, METIER_DOCS_BASE: BASE, METIER_DOCS_OUT: folder };
  await promisify(execFile)(process.execPath, [program, "build", "site"], { cwd: ROOT, env });
}

async function serveSite(folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const file = pathname.startsWith(BASE)
      ? findFile(folder, decodeURIComponent(pathname.slice(BASE.length)))
      : "";
    const found = file === "" ? join(folder, "404.html") : file;
    response.writeHead(file === "" ? 404 : 200, { "content-type": TYPES[extname(found)] ?? "text/plain" });
    response.end(readFileSync(found));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`;
}

function findFile(folder: string, path: string): string {
  const file = join(folder, path);
  if (!existsSync(file)) return "";
  return statSync(file).isFile() ? file : join(file, "index.html");
}
