/** `metier serve` is killed under clients of other protocols; when it is back, they go on where they were. */

import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { HttpAgent, type Interrupt } from "@ag-ui/client";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { ADMIN_KEY, openKillableWorld } from "../support/client-world.ts";

const headers = { authorization: `Bearer ${ADMIN_KEY}` };

test("MCP: a run that waits over a kill is followed by the same client", { timeout: 120_000 }, async () => {
  const world = await openKillableWorld();
  const client = new Client(
    { name: "a client", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), { requestInit: { headers } }),
  );
  onTestFinished(() => client.close());
  const waiting = await client.callTool({
    name: "run_skill",
    arguments: { skill: "greet", message: "build it" },
  });
  const { run, approvals } = waiting.structuredContent as { run: string; approvals: { id: string }[] };
  await world.killAndStart();
  await world.call("POST", `/v1/approvals/${approvals[0]?.id}`, { decision: "approve" });
  const ended = await client.callTool({ name: "follow_run", arguments: { run } });
  expect(ended.structuredContent).toMatchObject({ status: "completed", text: "It is built." });
});

async function readLast(stream: ReadableStream<UIMessageChunk>, message?: UIMessage): Promise<UIMessage> {
  let last: UIMessage | undefined;
  for await (const next of readUIMessageStream({ stream, ...(message && { message }) })) last = next;
  if (last === undefined) throw new Error("No message came.");
  return last;
}

function textIn({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

test("AI SDK: a message goes on after its approval, and after a kill in the middle of it", {
  timeout: 120_000,
}, async () => {
  const world = await openKillableWorld();
  const transport = new DefaultChatTransport({ api: `${world.url}/ai-sdk/skills/greet`, headers });
  const said = { id: "m-1", role: "user" as const, parts: [{ type: "text" as const, text: "build it" }] };
  const sent = { trigger: "submit-message", messageId: undefined, abortSignal: undefined } as const;
  const asked = await readLast(await transport.sendMessages({ ...sent, chatId: "c", messages: [said] }));
  await world.killAndStart();
  const answered = {
    ...asked,
    parts: asked.parts.map((part) =>
      part.type === "dynamic-tool" && part.state === "approval-requested"
        ? {
            ...part,
            state: "approval-responded" as const,
            approval: { id: part.approval.id, approved: true },
          }
        : part,
    ),
  };
  const stream = await transport.sendMessages({ ...sent, chatId: "c", messages: [said, answered] });
  expect(textIn(await readLast(stream, answered))).toBe("I try. It is built.");

  const hanging = { ...said, id: "m-2", parts: [{ type: "text" as const, text: "hang" }] };
  const cut = await transport.sendMessages({ ...sent, chatId: "d", messages: [hanging] });
  const reader = cut.getReader();
  const { value: start } = await reader.read();
  const { runId = "" } = (start?.type === "start" ? start.messageMetadata : {}) as { runId?: string };
  await world.settle(runId, "running");
  await world.killAndStart();
  await reader.cancel().catch(() => undefined); // It broke with the server.
  const resumed = await transport.reconnectToStream({ chatId: "d" });
  if (resumed === null) throw new Error("There is nothing to go on with.");
  await world.call("POST", `/v1/runs/${runId}/cancel`);
  const types: string[] = [];
  for await (const { type } of resumed) types.push(type);
  expect(types.at(-1)).toBe("abort");
});

test("AG-UI: an interrupt is resumed after a kill", { timeout: 120_000 }, async () => {
  const world = await openKillableWorld();
  const agent = new HttpAgent({ url: `${world.url}/ag-ui/skills/greet`, headers, threadId: "t" });
  let interrupts: readonly Interrupt[] = [];
  const heard = {
    onRunFinishedEvent(params: { outcome: string; interrupts?: readonly Interrupt[] }) {
      interrupts = params.interrupts ?? [];
    },
  };
  agent.messages.push({ id: "m-1", role: "user", content: "build it" });
  await agent.runAgent({}, heard);
  expect(interrupts).toHaveLength(1);
  await world.killAndStart();
  const resume = interrupts.map(({ id }) => {
    return { interruptId: id, status: "resolved" as const, payload: { approved: true } };
  });
  const { result } = await agent.runAgent({ resume }, heard);
  expect(result).toMatchObject({ text: "It is built." });
});

test("A2A: a task that needs input over a kill is answered by the same client", {
  timeout: 120_000,
}, async () => {
  const world = await openKillableWorld();
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  const client = await factory.createFromUrl(`${world.url}/a2a/`);
  const send = async (value: string, taskId: string) => {
    const part = {
      content: { $case: "text" as const, value },
      metadata: undefined,
      filename: "",
      mediaType: "",
    };
    const message = {
      messageId: value,
      contextId: "",
      taskId,
      role: Role.ROLE_USER,
      parts: [part],
      metadata: { skill: "greet" },
      extensions: [],
      referenceTaskIds: [],
    };
    const answer = await client.sendMessage({
      tenant: "",
      message,
      configuration: undefined,
      metadata: undefined,
    });
    if (!("status" in answer)) throw new Error("No task was made.");
    return answer;
  };
  const asked = await send("build it", "");
  expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  await world.killAndStart();
  const ended = await send("approve", asked.id);
  expect(ended.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
});
