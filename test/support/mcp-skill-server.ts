/**
 * An MCP server that offers skills, as a program over standard input and output, or with `http` at a port of this machine
 * that it prints first. Written by hand, so that it can lie in every way that the client library would not. What it says
 * stands in a file (`McpShelf`), which it reads anew for each request.
 */
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import type { McpShelf, ShelvedSkill } from "./mcp-shelf.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly uri?: string; readonly cursor?: string; readonly protocolVersion?: string };
}

interface SkillEntry {
  readonly uri: string;
  readonly [field: string]: unknown;
}

class ProtocolError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const [transport = "stdio", shelfFile = "", bearer = ""] = process.argv.slice(2);
const CAPABILITIES = { resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } };

function readShelf(): McpShelf {
  return JSON.parse(readFileSync(shelfFile, "utf8")) as McpShelf;
}

function answer({ method, params = {} }: Message, shelf: McpShelf): object {
  if (shelf.fails === method) throw new ProtocolError(-32603, "The shelf is out of order.");
  const capabilities = shelf.hasNoSkills ? { resources: {} } : CAPABILITIES;
  switch (method) {
    case "server/discover":
      if (shelf.isOld) throw new ProtocolError(-32601, "no such method");
      return { supportedVersions: ["2026-07-28"], capabilities };
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities,
        serverInfo: { name: "x", version: "1" },
      };
    case "skills/list":
      return listPage(shelf, params.cursor);
    case "skills/get":
      return {
        skill: shelf.skills.map(toEntry).find(({ uri }) => uri === params.uri) ?? unknown(params.uri),
      };
    case "resources/read":
      return { contents: readContents(shelf, params.uri ?? "") };
    default:
      throw new ProtocolError(-32601, "no such method");
  }
}

function listPage(shelf: McpShelf, cursor = "0"): object {
  const { pageSize = 100, pages } = shelf;
  const page = Number.parseInt(cursor, 10);
  const skills = shelf.skills.filter(({ isUnlisted }) => !isUnlisted);
  const shown = skills.slice(page * pageSize, (page + 1) * pageSize).map(toEntry);
  if (pages === "endless") return { skills: [], nextCursor: String(page + 1) };
  if (pages === "loop") return { skills: shown, nextCursor: "0" };
  return { skills: shown, ...((page + 1) * pageSize < skills.length && { nextCursor: String(page + 1) }) };
}

function toEntry({ uri, files, frontmatter, entry }: ShelvedSkill): SkillEntry {
  const root = uri.slice(0, -"/SKILL.md".length);
  const resources = Object.entries(files).map(([path, text]) => ({
    uri: `${root}/${path}`,
    digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
    size: Buffer.byteLength(text),
  }));
  return { uri, frontmatter, resources, ...entry };
}

function readContents({ skills }: McpShelf, uri: string): readonly object[] {
  for (const skill of skills) {
    const root = skill.uri.slice(0, -"/SKILL.md".length);
    const path = decodeURIComponent(uri.slice(root.length + 1));
    const text = skill.sent?.[path] ?? skill.files[path];
    if (!uri.startsWith(`${root}/`) || text === undefined || skill.missing?.includes(path)) continue;
    const own = { uri: skill.redirects?.[path] ?? uri, mimeType: "text/markdown" };
    const content = skill.isBinary
      ? { ...own, blob: Buffer.from(text).toString("base64") }
      : { ...own, text };
    return [content, ...(skill.extra ?? []).map((other) => ({ uri: other, text: "more" }))];
  }
  return unknown(uri);
}

function unknown(uri = ""): never {
  throw new ProtocolError(-32602, `There is no ${uri}.`);
}

/** What a result of the protocol's present form has to say. */
function seal(result: object, { isOld, ttlMs = 300_000 }: McpShelf): object {
  return isOld ? result : { resultType: "complete", ttlMs, cacheScope: "private", ...result };
}

async function respond(message: Message): Promise<string | undefined> {
  const shelf = readShelf();
  const { id, method, params } = message;
  if (shelf.log) appendFileSync(shelf.log, `${method} ${params?.uri ?? params?.cursor ?? ""}\n`);
  if (shelf.dies === method) {
    process.stderr.write(`the shelf fell over, with ${process.env.SHELF_KEY ?? "no key"}\n`);
    process.exit(9);
  }
  if (shelf.hangs === method) await wait(60_000, undefined, { ref: false });
  if (id === undefined) return undefined;
  try {
    return JSON.stringify({ jsonrpc: "2.0", id, result: seal(answer(message, shelf), shelf) });
  } catch (error) {
    const { code = -32603, message: text } = error as ProtocolError;
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: text } });
  }
}

if (transport === "http") serveHttp();
else {
  for await (const line of createInterface({ input: process.stdin })) {
    void respond(JSON.parse(line) as Message).then((text) => {
      if (text !== undefined) process.stdout.write(`${text}\n`);
    });
  }
}

function serveHttp(): void {
  const server = createServer(async (request, response) => {
    const { redirectsTo } = readShelf();
    if (redirectsTo !== undefined) response.writeHead(307, { location: redirectsTo }).end();
    else if (bearer !== "" && request.headers.authorization !== `Bearer ${bearer}`)
      response.writeHead(401).end();
    else {
      const chunks = await request.toArray();
      const text = await respond(JSON.parse(Buffer.concat(chunks).toString()) as Message);
      if (text === undefined) response.writeHead(202).end();
      else response.writeHead(200, { "content-type": "application/json" }).end(text);
    }
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
  });
}
