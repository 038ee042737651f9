/** The official MCP client against the server: over HTTP in this process, in both versions of the protocol. */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Metier } from "@metier/runtime";
import { createMcpServer, type McpListenOptions, type McpServerOptions } from "@metier/runtime/mcp";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";

/** With sessions, and without. */
export const PROTOCOLS = ["2025-11-25", "2026-07-28"] as const;
export type ProtocolVersion = (typeof PROTOCOLS)[number];

/** A client that speaks this version and no other; it says so when a list has changed. */
export function createClient(
  version: ProtocolVersion,
  onChanged?: (list: "tools" | "prompts" | "resources") => void,
): Client {
  const follow = (list: "tools" | "prompts" | "resources") => ({
    autoRefresh: false,
    onChanged: () => onChanged?.(list),
  });
  return new Client(
    { name: "metier-test", version: "1.0.0" },
    {
      ...(version === "2026-07-28" && { versionNegotiation: { mode: { pin: version } } }),
      ...(onChanged && {
        listChanged: {
          tools: follow("tools"),
          prompts: follow("prompts"),
          resources: follow("resources"),
        },
      }),
    },
  );
}

export interface ServedWorld {
  readonly url: string;
  /** What the server said about skills it left out, and about faults. */
  readonly diagnostics: readonly Diagnostic[];
  connect(version?: ProtocolVersion): Promise<Client>;
}

/** Ends with the test. */
export async function serve(
  metier: Metier,
  options: McpServerOptions = {},
  listen: McpListenOptions = {},
): Promise<ServedWorld> {
  const diagnostics: Diagnostic[] = [];
  const server = createMcpServer(metier, {
    watch: false,
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  });
  onTestFinished(() => server.close());
  const { url } = await server.listen(listen);
  return {
    url,
    diagnostics,
    async connect(version = "2026-07-28") {
      const client = createClient(version);
      const { token } = listen;
      const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      onTestFinished(() => client.close());
      return client;
    },
  };
}

/** The text of a tool's answer. */
export async function callText(
  client: Client,
  name: string,
  input: Readonly<Record<string, unknown>>,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return { text, isError: isError === true };
}
