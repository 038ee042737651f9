/** The service as the cheat sheet starts it (`sh serve`), and the requests that start a run and follow it (`sh client`). */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocks, readDocuments } from "../support/documents.ts";
import { ROOT } from "../support/repository.ts";
import { temporaryFolder, writeTree } from "../support/temporary.ts";

const blocks = readDocuments().flatMap(codeBlocks);
const shown = (info: string): readonly string[] =>
  (blocks.find((block) => block.info === info)?.code ?? "").trim().split("\n");

const run = promisify(execFile);

/** As shown, but on a port that is free. */
async function startService(folder: string): Promise<{ readonly port: string; readonly key: string }> {
  const [exported = "", command = ""] = shown("sh serve");
  const [, key = ""] = /^export METIER_ADMIN_KEY=(\S+)$/.exec(exported) ?? [];
  const words = command.replace("--port 4000", "--port 0").split(" ").slice(2);
  const program = join(ROOT, "packages/metier/bin/metier.js");
  const env = { ...process.env, HOME: join(folder, "home"), METIER_ADMIN_KEY: key };
  const service = spawn(process.execPath, [program, ...words], { cwd: folder, env, stdio: "pipe" });
  onTestFinished(async () => {
    service.kill("SIGTERM");
    if (service.exitCode === null) await once(service, "exit");
  });
  const said: string[] = [];
  for await (const line of createInterface(service.stderr)) {
    const [, port] = /^Serving at http:\/\/[^:]+:(\d+)/.exec(line) ?? [];
    if (port !== undefined) return { port, key };
    said.push(line);
  }
  throw new Error(`The service did not start: ${said.join("\n")}`);
}

test("the service starts, and the two requests start a run and stream its events to the end", async () => {
  const folder = temporaryFolder();
  const script = join(folder, "script.json");
  writeTree(folder, {
    "script.json": '[{ "answer": { "text": "A wide, blue sea." } }]',
    "home/.metier/config.toml": `[models.default]\nprovider = "scripted"\nmodel = "${script}"\n`,
  });
  const { port, key } = await startService(folder);
  const [start = "", follow = ""] = shown("sh client").map((line) => line.replace(":4000/", `:${port}/`));
  const env = { ...process.env, METIER_ADMIN_KEY: key };
  const { id } = JSON.parse((await run("sh", ["-c", start], { env })).stdout) as { readonly id: string };
  const { stdout } = await run("sh", ["-c", follow], { env: { ...env, RUN: id } });
  const numbers = [...stdout.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  expect(stdout).toContain('"type":"run-finished"');
  expect(stdout).toContain("A wide, blue sea.");
});
