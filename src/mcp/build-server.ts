/** One server of the SDK for one connection, or for one request where a protocol has no connections. */
import { type CacheHint, McpServer } from "@modelcontextprotocol/server";
import { SkillsExtension } from "@modelcontextprotocol/server/ext/skills";
import { VERSION } from "../foundation/version.ts";
import { answerPrompts } from "./answer-prompts.ts";
import { answerTools } from "./answer-tools.ts";
import type { Connection } from "./connection.ts";
import type { ServedSkills } from "./served-skills.ts";
import { answerResourceList, createSkillSource } from "./skill-source.ts";

/** Clients hear of changes; this is for those that do not listen. What one caller is served is nobody else's. */
const CACHE: CacheHint = { ttlMs: 10_000, cacheScope: "private" };

export interface ServerParts {
  readonly connection: Connection;
  readonly served: ServedSkills;
  /** What a client may put into its system prompt. */
  readonly instructions: string;
  onWarning(message: string): void;
}

export function buildServer({ connection, served, instructions, onWarning }: ServerParts): McpServer {
  const mcp = new McpServer(
    { name: "metier", title: "Metier", version: VERSION },
    {
      instructions,
      cacheHints: {
        "tools/list": CACHE,
        "prompts/list": CACHE,
        "resources/list": CACHE,
        "resources/templates/list": CACHE,
        "resources/read": CACHE,
        "server/discover": CACHE,
      },
    },
  );
  mcp.server.registerCapabilities({ tools: { listChanged: true }, prompts: { listChanged: true } });
  answerTools(mcp.server, connection);
  answerPrompts(mcp.server, connection);
  const { library, conversation } = connection;
  const source = createSkillSource(library, served, conversation);
  const warn = ({ path, message }: { path: string; message: string }): void =>
    onWarning(`${path}: ${message}`);
  new SkillsExtension({ source, cacheHint: CACHE, onWarning: warn }).attach(mcp);
  answerResourceList(mcp.server, library, served); // After the extension, which brings an answer of its own.
  return mcp;
}
