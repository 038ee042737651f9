/** Who may not speak with an MCP server over HTTP, and what a hostile request gets. */
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { createMcpServer, type McpListenOptions } from "@metier/runtime/mcp";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { createClient, serve } from "../support/mcp-clients.ts";
import { createWorld, skill } from "../support/world.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** As it is written, without what a well-meaning client would put right. */
function send(
  url: string,
  {
    method = "POST",
    headers = {},
    body = "",
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...JSON_HEADERS, ...headers } }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const JSON_HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
});

async function listen(options: McpListenOptions = {}): Promise<string> {
  const world = createWorld();
  world.write({ "home/.metier/skills/notes/SKILL.md": skill("notes") });
  return (await serve(await world.metier(), {}, options)).url;
}

describe("a name that is not the server's", () => {
  test.each(["evil.example", "127.0.0.1.evil.example", "evil.example:80", "localhost.evil.example", "a b"])(
    "as `Host: %s` is refused",
    async (host) => {
      const url = await listen();
      const { status, text } = await send(url, { headers: { Host: host }, body: INITIALIZE });
      expect(status).toBe(403);
      expect(text).not.toContain("result");
    },
  );

  test.each(["http://evil.example", "https://localhost.evil.example", "null", "file://", "garbage"])(
    "as `Origin: %s` is refused",
    async (origin) => {
      const { status, text } = await send(await listen(), { headers: { Origin: origin }, body: INITIALIZE });
      expect(status).toBe(403);
      expect(text).toContain("Origin");
    },
  );

  test.each([
    { Host: "localhost:1" },
    { Host: "[::1]:9" },
    { Host: "LOCALHOST" },
    { Origin: "http://localhost:5173" },
  ])("is not one of %j", async (headers) => {
    expect((await send(await listen(), { headers, body: INITIALIZE })).status).toBe(200);
  });

  test("can be allowed by name", async () => {
    const url = await listen({ hosts: ["skills.example.org"] });
    const headers = { Host: "skills.example.org", Origin: "https://skills.example.org" };
    expect((await send(url, { headers, body: INITIALIZE })).status).toBe(200);
  });
});

describe("a server with a token", () => {
  const token = "correct-horse-battery-staple";

  test.each([
    undefined,
    "Bearer wrong",
    "Bearer",
    `Basic ${token}`,
    token,
    `Bearer ${token}x`,
    `Bearer ${token} x`,
  ])("refuses `Authorization: %s` and does not say what is right", async (authorization) => {
    const headers: Record<string, string> =
      authorization === undefined ? {} : { Authorization: authorization };
    const answer = await send(await listen({ token }), { headers, body: INITIALIZE });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(answer.text).not.toContain(token);
  });

  test("serves whoever has it", async () => {
    const world = createWorld();
    world.write({ "home/.metier/skills/notes/SKILL.md": skill("notes") });
    const served = await serve(await world.metier(), {}, { token });
    const client = await served.connect();
    expect((await client.listTools()).tools).toHaveLength(4);
  });
});

describe("an address off loopback", () => {
  test.each(["0.0.0.0", "::", "10.1.2.3", "example.org", ""])(
    "(%j) is not listened on without a token",
    async (host) => {
      const server = createMcpServer(await createWorld().metier(), { watch: false });
      await expect(server.listen({ host })).rejects.toThrow("no token is set");
      await server.close();
    },
  );
});

test("a body beyond the bound is refused without being kept", async () => {
  const url = await listen({ maxBodyBytes: 10_000 });
  const { status } = await send(url, { body: `"${"x".repeat(20_000)}"` });
  expect(status).toBe(413);
});

test.each([
  ["", 400],
  ["{", 400],
  ["[]", 400],
  ["null", 400],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400],
])("a body that is no beginning (%j) is refused", async (body, expected) => {
  expect((await send(await listen(), { body })).status).toBe(expected);
});

test("a session that nobody was given is not known", async () => {
  const headers = { "Mcp-Session-Id": "11111111-1111-4111-8111-111111111111" };
  const { status, text } = await send(await listen(), { headers, body: INITIALIZE });
  expect(status).toBe(404);
  expect(text).toContain("Session not found");
});

test("there are only so many sessions: the one used longest ago makes room", async () => {
  const url = await listen({ maxSessions: 2 });
  const ids: string[] = [];
  for (let number = 0; number < 3; number++) {
    const { headers } = await send(url, { body: INITIALIZE });
    ids.push(String(headers["mcp-session-id"]));
  }
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
  const statuses: number[] = [];
  for (const id of ids) {
    const headers = { "Mcp-Session-Id": id, "MCP-Protocol-Version": "2025-11-25" };
    statuses.push((await send(url, { headers, body: ping })).status);
  }
  expect(statuses).toEqual([404, 200, 200]);
});

test("nothing is served at other paths, and no page may ask for more by CORS", async () => {
  const url = await listen();
  expect((await send(url.replace("/mcp", "/mcp/../admin"), { body: INITIALIZE })).status).toBe(404);
  expect((await send(url.replace("/mcp", "/"), { method: "GET" })).status).toBe(404);
  const preflight = await send(url, { method: "OPTIONS", headers: { Origin: "http://localhost:3000" } });
  expect(preflight.status).toBeGreaterThanOrEqual(400);
  expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
});

test.each([
  "GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "POST /mcp HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
  "POST http://evil.example/mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n",
  "nonsense\r\n\r\n",
])("a request as no client writes it (%j) is refused, and the server goes on", async (bytes) => {
  const url = await listen();
  const answered = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.end(bytes));
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => resolve(text));
  });
  expect(answered).toMatch(/^HTTP\/1\.1 40[034] /);
  expect((await send(url, { body: INITIALIZE })).status).toBe(200);
});

test("closing ends what clients have open", async () => {
  const world = createWorld();
  world.write({ "home/.metier/skills/notes/SKILL.md": skill("notes") });
  const server = createMcpServer(await world.metier());
  const { url } = await server.listen();
  const client = createClient("2025-11-25");
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  await server.close();
  await expect(client.listTools()).rejects.toThrow();
  await client.close();
});
