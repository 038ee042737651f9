/** `metier/mcp`: the skills of a `Metier` as an MCP server, for programs that embed it. */
export type { McpHttpHandler, McpHttpOptions, McpListener, McpListenOptions } from "./http/http-options.ts";
export type { McpRunOptions, McpServerOptions } from "./mcp-options.ts";
export { createMcpServer, type SkillServer } from "./mcp-server.ts";
