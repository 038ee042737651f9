/** The exports of `@metier/runtime/mcp`. */
export type { HostCall, HostOutcome, HostQuestion, HostTool } from "./mcp/host-tools.ts";
export type { McpFetchHandler } from "./mcp/http.ts";
export {
  createMcpFetch,
  createMcpServer,
  type McpHttpHandler,
  type McpHttpOptions,
  type McpListener,
  type McpListenOptions,
  type McpRunOptions,
  type McpServerOptions,
  type SkillServer,
} from "./mcp/mcp-server.ts";
