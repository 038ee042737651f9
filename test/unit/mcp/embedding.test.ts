/** The server in a program of somebody else: over streams it has, or in its own HTTP server. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { UsageError } from "@metier/base/errors";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpServer } from "metier/mcp";
import { expect, onTestFinished, test } from "vitest";
import { callText, createClient, PROTOCOLS } from "../../support/mcp-clients.ts";
import { createWorld, skill, type World } from "../../support/world.ts";

function notesWorld(): World {
  const world = createWorld();
  world.write({ "home/.metier/skills/notes/SKILL.md": skill("notes", "", "Read the notes.") });
  return world;
}

test("two streams are served until the client ends its side", async () => {
  const server = createMcpServer(await notesWorld().metier());
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = server.serveStreams(input, output);
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  const [line] = await once(output, "data");
  expect(JSON.parse(String(line))).toMatchObject({ id: 1, result: { serverInfo: { name: "metier" } } });
  input.end();
  await served;
  await server.close();
});

test("closing the server ends what it serves", async () => {
  const server = createMcpServer(await notesWorld().metier());
  const served = server.serveStreams(new PassThrough(), new PassThrough());
  await server.close();
  await served;
});

test.each(PROTOCOLS)("a handler serves version %s at any path of a program's own server", async (version) => {
  const server = createMcpServer(await notesWorld().metier());
  const { handle } = server.httpHandler();
  const http = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await server.close();
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  const client = createClient(version);
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/some/where`)));
  expect((await callText(client, "use_skill", { skill: "notes" })).text).toContain("Read the notes.");
  await client.close();
});

test.each(PROTOCOLS)("over HTTP, too, a client of version %s is told of changes", async (version) => {
  const world = notesWorld();
  const server = createMcpServer(await world.metier());
  onTestFinished(() => server.close());
  const { url } = await server.listen();
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const client = createClient(version, (list) => list === "tools" && tell());
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  await client.listTools();
  world.write({ "home/.metier/skills/newcomer/SKILL.md": skill("newcomer") });
  await told;
  expect((await callText(client, "list_skills", {})).text).toContain("newcomer");
});

test.each(["", " ", "two words", "line\n"])("the token %j is refused, at whatever address", async (token) => {
  const server = createMcpServer(await notesWorld().metier());
  await expect(server.listen({ host: "0.0.0.0", token })).rejects.toThrow("The token is empty");
  expect(() => server.httpHandler({ token })).toThrow(UsageError);
});

test("a line that is no message of the protocol is reported in one sentence, and the next one is answered", async () => {
  const reported: string[] = [];
  const onDiagnostic = ({ message }: { message: string }): void => void reported.push(message);
  const server = createMcpServer(await notesWorld().metier(), { onDiagnostic });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = server.serveStreams(input, output);
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  };
  input.write('null\n[{"jsonrpc":"2.0"}]\n{}\n');
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  const [line] = await once(output, "data");
  expect(JSON.parse(String(line))).toMatchObject({ id: 1 });
  expect(reported).toEqual(["A client sent something that is not a protocol message; it was not answered."]);
  input.end();
  await served;
  await server.close();
});

test("lines that come in pieces, together, or longer than any request are each answered once", async () => {
  const server = createMcpServer(await notesWorld().metier(), { watch: false });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = server.serveStreams(input, output);
  const write = (id: number, method: string, params: object = {}): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const hello = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  };
  const use = (line: string) => ({ name: "use_skill", arguments: { skill: "notes", arguments: line } });
  const sent = [
    write(1, "initialize", hello),
    ...[2, 3, 4].map((id) => write(id, "tools/list")),
    write(5, "tools/call", use("x".repeat(100_000))),
    ...[6, 7].map((id) => write(id, "tools/list")),
    write(8, "tools/list", { _meta: { progressToken: 1 } }),
    write(9, "tools/none"),
    ...[10, 11].map((id) => write(id, "tools/call", use("now"))),
  ].join("");
  const ids: number[] = [];
  let text = "";
  const all = new Promise<void>((resolve) => {
    output.on("data", (chunk) => {
      const lines = (text + String(chunk)).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) ids.push((JSON.parse(line) as { readonly id: number }).id);
      if (ids.length === 12) resolve();
    });
  });
  for (let at = 0; at < sent.length; at += 333) {
    input.write(sent.slice(at, at + 333));
    await setImmediate();
  }
  // The end of a line that is no message is none either.
  for (const part of ["x".repeat(20_000), write(0, "tools/list"), write(12, "tools/list")]) {
    input.write(part);
    await setImmediate();
  }
  await all;
  expect(ids.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  input.end();
  await served;
  await server.close();
});
