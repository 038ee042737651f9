/** A chat completions server on loopback that follows the kit's scenarios. The last message names the scenario. */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/** Asks the user in scenarios that want it, and otherwise says hello. @returns {Promise<{ url: string, stop: () => void }>} */
export async function startModel() {
  let calls = 0;
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await text(request));
    const said = JSON.stringify(messages.at(-1));
    const asks = said.includes("tck-input-required");
    calls += 1;
    const call = { name: "ask_user", arguments: JSON.stringify({ question: "What next?" }) };
    const delta = asks
      ? { tool_calls: [{ index: 0, id: `call${calls}`, type: "function", function: call }] }
      : { content: said.includes("tck-artifact-text") ? "Generated text content" : "Hello from TCK" };
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const choice of [
      { delta, finish_reason: null },
      { delta: {}, finish_reason: asks ? "tool_calls" : "stop" },
    ]) {
      const chunk = {
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, ...choice }],
      };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/v1`, stop: () => server.close() };
}
