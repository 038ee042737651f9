/**
 * An MCP server for tests, as a program over standard input and output, or with `http` as its argument at a port of this
 * machine that it prints first. Written by hand, so that nothing of the client decides what it answers.
 */
import { createServer } from "node:http";
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly cursor?: string;
    readonly protocolVersion?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
  };
}

const [mode = "serve"] = process.argv.slice(2);

const OBJECT = { type: "object" };
const SEARCH_INPUT = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
const COUNT_OUTPUT = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };

const PAGES = [
  [
    {
      name: "search",
      description: "Searches.",
      inputSchema: SEARCH_INPUT,
      annotations: { readOnlyHint: true },
    },
    { name: "count", inputSchema: OBJECT, outputSchema: COUNT_OUTPUT, annotations: { readOnlyHint: true } },
    { name: "delete", inputSchema: OBJECT, annotations: { destructiveHint: true, idempotentHint: true } },
    { name: "unsaid", inputSchema: OBJECT },
  ],
  [
    {
      name: "contradictory",
      inputSchema: OBJECT,
      annotations: { readOnlyHint: true, destructiveHint: true },
    },
    { name: "has a blank", inputSchema: OBJECT },
    { name: "bad-schema", inputSchema: { type: "object", properties: { a: { type: "nonsense" } } } },
    { name: "environment", inputSchema: OBJECT },
  ],
];

/** What a result of the protocol's present form has to say. */
const NEWEST = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

function answer({ method, params = {} }: Message): object | undefined {
  switch (method) {
    case "server/discover":
      return mode === "newest"
        ? { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }
        : undefined;
    case "initialize":
      if (mode === "newest") return undefined;
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "shelf", version: "1" },
      };
    case "tools/list": {
      const page = Number(params.cursor ?? 0);
      const hasMore = mode === "endless" || page + 1 < PAGES.length;
      return { tools: PAGES[page % PAGES.length], ...(hasMore && { nextCursor: String(page + 1) }) };
    }
    case "tools/call":
      return callTool(params.name ?? "", params.arguments ?? {});
    default:
      return undefined;
  }
}

function callTool(name: string, input: Readonly<Record<string, unknown>>): object | undefined {
  switch (name) {
    case "search":
      return {
        content: [
          { type: "text", text: `Found ${input.query}` },
          { type: "text", text: "and more" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
        ],
      };
    case "count":
      return { content: [{ type: "text", text: "3" }], structuredContent: { count: 3, pid: process.pid } };
    case "environment":
      return { content: [], structuredContent: { ...process.env } };
    case "delete":
      return { content: [{ type: "text", text: "There is no such book." }], isError: true };
    default:
      return undefined;
  }
}

function respond(message: Message): string | undefined {
  if (message.id === undefined) return undefined; // A notification.
  const { id, params } = message;
  if (message.method === "tools/call" && params?.name === "unsaid") {
    if (params.arguments?.how === "crash") {
      process.stderr.write("out of shelves\n");
      process.exit(9);
    }
    if (params.arguments?.how === "flood") return "z".repeat(11 * 1024 * 1024);
    if (params.arguments?.how === "hang") return undefined;
  }
  const result = answer(message);
  if (mode === "newest" && result !== undefined) Object.assign(result, NEWEST);
  const error = { code: -32601, message: "no such method" };
  return JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) });
}

if (mode === "http") serveHttp();
else {
  process.stdout.write("Starting the shelf…\n"); // As careless servers do.
  for await (const line of createInterface({ input: process.stdin })) {
    const text = respond(JSON.parse(line) as Message);
    if (text !== undefined) process.stdout.write(`${text}\n`);
  }
}

function serveHttp(): void {
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== "Bearer sesame-open-now") {
      response.writeHead(401).end();
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(500).end("only POST is expected");
      return;
    }
    const chunks = await request.toArray();
    const text = respond(JSON.parse(Buffer.concat(chunks).toString()) as Message);
    if (text === undefined) response.writeHead(202).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(text);
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
  });
}
