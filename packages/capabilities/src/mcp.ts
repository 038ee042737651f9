/** The door `@metier/capabilities/mcp` for other packages. */
export { describeMcpFailure, type McpParts, openMcpSession, showAddress } from "./providers/mcp-session.ts";
export { fetchVariables, type ProgramWords } from "./providers/provider-launch.ts";
export { tidyFault } from "./providers/provider-process.ts";
