/** The mounting table: every protocol that the service answers besides its own API. */
import type { ServiceRoute } from "../http/route.ts";
import { A2A } from "./a2a/a2a-protocol.ts";
import { AG_UI } from "./ag-ui/ag-ui-protocol.ts";
import { AI_SDK } from "./ai-sdk/ai-sdk-protocol.ts";
import { ANTHROPIC } from "./anthropic/anthropic-protocol.ts";
import { MCP } from "./mcp/mcp-protocol.ts";
import { OPENAI } from "./openai/openai-protocol.ts";
import type { Protocol } from "./protocol.ts";

export const ALL_PROTOCOLS: readonly Protocol[] = [ANTHROPIC, OPENAI, MCP, A2A, AG_UI, AI_SDK];

/** Not in the OpenAPI document: their vendors describe them, and a second description could only differ. */
export const PROTOCOL_ROUTES: readonly ServiceRoute[] = ALL_PROTOCOLS.flatMap(({ routes }) => routes);
