/** What other packages may use of `@metier/runtime/mcp`. */
export {
  createMcpServer,
  type McpHttpHandler,
  type McpHttpOptions,
  type McpListener,
  type McpListenOptions,
  type McpRunOptions,
  type McpServerOptions,
  type SkillServer,
} from "./mcp/mcp-server.ts";
