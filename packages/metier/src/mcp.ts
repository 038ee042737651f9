/** `metier/mcp`: serves the skills of a `Metier` as an MCP server, for programs that embed it. */
export {
  createMcpServer,
  type McpHttpHandler,
  type McpHttpOptions,
  type McpListener,
  type McpListenOptions,
  type McpRunOptions,
  type McpServerOptions,
  type SkillServer,
} from "@metier/runtime/mcp";
