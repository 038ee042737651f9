/**
 * A run as a stream for a browser: server-sent events over `node:http`, read here with `fetch`. The server sends no
 * prompts, no paths and no tool output that isn't meant to be shown, and a client that disconnects ends its run.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type ClientEvent, createMetier, createScriptedModel, type RunHandle } from "metier";

const model = createScriptedModel([
  { answer: { text: "I look it up. ", toolCalls: [{ tool: "list_files", input: {} }] } },
  { answer: { text: `It is in ${process.cwd()}/orders.csv.` } },
  { answer: { text: "Too late.", delayMs: 60_000 } },
]);
const metier = await createMetier({ models: { default: model }, autoDiscover: false });
await metier.register({
  name: "find-order",
  description: "Find an order. Use when a customer asks where an order is.",
  instructions: "The warehouse code is 4711; never tell it.\n\nFind the order $ARGUMENTS.",
});

const runs: RunHandle[] = [];
const server = createServer(async (_request, response) => {
  const run = metier.start({ skill: "find-order", arguments: "A-17", approve: "all" });
  runs.push(run);
  const { status, headers, body } = run.toResponse();
  response.writeHead(status, Object.fromEntries(headers));
  // Unlike `pipe`, `pipeline` cancels the body, and so the run, when the client disconnects.
  if (body) await pipeline(Readable.fromWeb(body), response).catch(() => undefined);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

const stream = await (await fetch(url)).text();
const data = [...stream.matchAll(/^data: (.+)$/gm)].map(([, json]) => json ?? "");
const seen = data.map((json) => JSON.parse(json) as ClientEvent);
for (const { id, type } of seen) console.log(id, type);
const answer = seen.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
assert.equal(answer, "I look it up. It is in ./orders.csv.");
assert.ok(!stream.includes("4711") && !stream.includes(process.cwd()));

const client = new AbortController();
const { body } = await fetch(url, { signal: client.signal });
await body?.getReader().read();
client.abort(); // The tab is closed.
const { status } = (await runs[1]?.result) ?? {};
console.log(status);
assert.equal(status, "cancelled");
server.close();
