/**
 * Metier inside a bundle: esbuild bundles a server into one file, which is moved to an empty folder and run there.
 * Bundled skills and the sandbox come along. The model is scripted, so this needs no key.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const SERVER = `
import { createMetier, createScriptedModel } from "metier";

async function main() {
  const model = createScriptedModel([
    { answer: { toolCalls: [{ tool: "bash", input: { command: "echo $((40 + 2))" } }] } },
    { answer: { text: "Counted." } },
  ]);
  const metier = await createMetier({ bundled: true, models: { default: model } });
  await metier.register({ name: "counting", description: "Counts.", instructions: "Count." });
  const run = metier.start({ skill: "counting", approve: "all" });
  const heard = [];
  for await (const event of run.events()) if (event.type === "tool-finished") heard.push(event.text);
  const { text, status } = await run.result;
  console.log(JSON.stringify({ skills: metier.names(), heard, text, status }));
}
void main();
`;

const folder = mkdtempSync(join(tmpdir(), "metier-example-"));
try {
  const built = join(folder, "build", "server.cjs");
  await build({
    stdin: { contents: SERVER, resolveDir: import.meta.dirname },
    outfile: built,
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "error",
  });
  assert.ok(!readFileSync(built, "utf8").includes(import.meta.dirname)); // No path of this machine.

  const server = join(folder, "elsewhere", "server.cjs");
  mkdirSync(join(folder, "elsewhere"));
  copyFileSync(built, server);
  rmSync(built);
  const { stdout, stderr } = spawnSync(process.execPath, [server], { encoding: "utf8" });
  assert.equal(stderr, "");
  const { skills, heard, text, status } = JSON.parse(stdout);
  assert.ok(skills.includes("summarize-text"));
  assert.match(heard[0], /42/);
  assert.equal(status, "completed");
  console.log(text, heard[0]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
