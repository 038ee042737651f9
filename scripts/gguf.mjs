/**
 * `npm run test:gguf`: tests GGUF files with the real node-llama-cpp. Installs it once, without its scripts, to
 * `METIER_GGUF_DIR` or the user's cache; `METIER_GGUF_PACKAGE` names an existing one.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ROOT, runInForeground, runScript } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

const VERSION = "3.22.1";

runScript(() => {
  const node = setUp();
  process.env.METIER_GGUF_PACKAGE ??= install();
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  return runInForeground(node, [vitest, "run", "packages/run/test/model/gguf-package.test.ts"]);
});

function install() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folder = process.env.METIER_GGUF_DIR || join(cache, "metier-gguf");
  const place = join(folder, "node_modules", "node-llama-cpp");
  const manifest = join(place, "package.json");
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === VERSION) return place;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const flags = ["--ignore-scripts", "--omit=peer", "--no-audit", "--no-fund", "--loglevel=error"];
  const code = runInForeground("npm", ["install", "--prefix", folder, ...flags, `node-llama-cpp@${VERSION}`]);
  if (code !== 0) throw new Error(`npm could not install node-llama-cpp ${VERSION}.`);
  return place;
}
