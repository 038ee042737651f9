/**
 * The first example server of the official SDK's documentation: a tool that greets, over both transports from one
 * factory, plus the SDK's own skills extension over a folder.
 *
 *     node sdk-server.mjs <folder of skills> stdio|http
 */
import { createServer } from "node:http";
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { loadSkills } from "@modelcontextprotocol/server/ext/skills/node";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const [folder = "", transport = "stdio"] = process.argv.slice(2);
const skills = await loadSkills(folder);
const inputSchema = z.object({ name: z.string().describe("Whom to greet") });

function build() {
  const server = new McpServer({ name: "example", version: "1.0.0" });
  server.registerTool("greet", { description: "Greets somebody.", inputSchema }, async ({ name }) => ({
    content: [{ type: "text", text: `Hello, ${name}!` }],
  }));
  skills.attach(server);
  return server;
}

if (transport === "stdio") serveStdio(build);
else {
  const answer = toNodeHandler(createMcpHandler(build));
  const [isHost, isOrigin] = [localhostHostValidation(), localhostOriginValidation()];
  const http = createServer((request, response) => {
    if (isHost(request, response) && isOrigin(request, response))
      void answer(
        /** @type {import("@modelcontextprotocol/node").NodeIncomingMessageLike} */ (request),
        response,
      );
  });
  http.listen(0, "127.0.0.1", () => {
    const address = http.address();
    const port = typeof address === "object" ? address?.port : undefined;
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
  });
}
