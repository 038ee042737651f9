/** A run as streams, with what reads them elsewhere: the AI SDK's own reader, an HTTP client, one that goes away. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RunHandle, UIRunMetadata, UISkillData } from "@metier/run";
import { readUIMessageStream, type UIMessage, uiMessageChunkSchema, validateUIMessages } from "ai";
import { afterEach, expect, test } from "vitest";
import { calls, createRunWorld, openRuns, programTool, says, useSkill } from "../support/scripted-runs.ts";

type RunMessage = UIMessage<UIRunMetadata, { skill: UISkillData }>;

const look = programTool("look", "Nothing to see.");
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers every request with that run. */
async function serve(answer: () => Response): Promise<string> {
  const server = createServer(async (_request, response) => {
    const { status, headers, body } = answer();
    response.writeHead(status, Object.fromEntries(headers));
    if (body === null) response.end();
    // A client that leaves destroys the response, which ends the body.
    else await pipeline(Readable.fromWeb(body as never), response).catch(() => undefined);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function lastMessage(handle: RunHandle, showTools: readonly string[] = []): Promise<RunMessage> {
  let last: RunMessage | undefined;
  const errors: unknown[] = [];
  const stream = handle.toUIMessageStream({ showTools });
  for await (const message of readUIMessageStream<RunMessage>({ stream, onError: (e) => errors.push(e) })) {
    last = message;
  }
  expect(errors).toEqual([]);
  if (last === undefined) throw new Error("no message");
  await validateUIMessages({ messages: [last] });
  return last;
}

test("the AI SDK reads a run with tools and a nested skill as one message", async () => {
  const world = createRunWorld({ outer: [], inner: ["context: fork"] });
  const { metier } = await openRuns(
    world,
    [
      { answer: { text: "Let me see.", toolCalls: [{ tool: "look", input: { at: world.project } }] } },
      useSkill("inner"),
      says("Inner words."),
      calls("nowhere", {}),
      says("All done."),
    ],
    { tools: [look] },
  );
  const handle = metier.start({ skill: "outer", approve: "all" });
  const { id, parts, metadata } = await lastMessage(handle);
  const { status, runId } = await handle.result;
  expect([status, id, metadata]).toEqual(["completed", runId, { runId, status: "completed" }]);
  expect(parts.map((part) => (part.type === "text" ? part.text : part.type))).toEqual([
    "step-start",
    "Let me see.",
    "dynamic-tool",
    "step-start",
    "dynamic-tool",
    "data-skill",
    "step-start",
    "dynamic-tool",
    "step-start",
    "All done.",
  ]);
  expect(parts).toContainEqual(
    expect.objectContaining({ toolName: "look", state: "output-available", input: {}, output: null }),
  );
  expect(parts).toContainEqual(expect.objectContaining({ data: { skill: "inner", status: "completed" } }));
  expect(parts).toContainEqual(
    expect.objectContaining({ toolName: "nowhere", state: "output-error", errorText: "Not allowed." }),
  );
  const text = JSON.stringify(parts);
  expect(text).not.toContain("Inner words.");
  expect(text).not.toContain(world.root);
  const shown = JSON.stringify((await lastMessage(handle, ["look"])).parts);
  expect(shown).toContain("Nothing to see.");
  expect(shown).not.toContain(world.root);
});

test("every chunk is one that the AI SDK knows, however the run ends", async () => {
  const schema = uiMessageChunkSchema();
  const world = createRunWorld({ outer: [] });
  const ends = [
    [says("Yes.")],
    [{ answer: { error: { message: `no ${world.root}`, status: 400 } } }],
    [{ answer: { text: "Cut", finishReason: "length" as const } }],
  ];
  const last: unknown[] = [];
  for (const script of ends) {
    const { metier } = await openRuns(world, script);
    for (const skill of ["outer", "gone"]) {
      const handle = metier.start({ skill });
      const chunks = [];
      for await (const chunk of handle.toUIMessageStream()) chunks.push(chunk);
      for (const chunk of chunks) expect(await schema.validate?.(chunk)).toMatchObject({ success: true });
      expect(JSON.stringify(chunks)).not.toContain(world.root);
      last.push(chunks.at(-1));
    }
  }
  const reasons = last.map((chunk) => (chunk as { finishReason?: string }).finishReason);
  expect(reasons).toEqual(["stop", "error", "error", "error", "length", "error"]);
});

test("over HTTP a client reads events to the end, and the response for `useChat` ends as it expects", async () => {
  const world = createRunWorld({ outer: [] });
  const { metier } = await openRuns(world, [says("One."), says("Two.")]);
  const events = await serve(() => metier.start({ skill: "outer" }).toResponse());
  const text = await (await fetch(events)).text();
  expect(text).toMatch(/^: open\n\nid: /);
  expect(text).toContain('"status":"completed","text":"One."');
  const chat = await serve(() => metier.start({ skill: "outer" }).toUIMessageStreamResponse());
  const response = await fetch(chat);
  expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
  expect(await response.text()).toMatch(/"delta":"Two\."[\s\S]*data: \[DONE\]\n\n$/);
});

test("a client that goes away ends its run, also in the middle of a model call", async () => {
  const world = createRunWorld({ outer: [] });
  const { metier } = await openRuns(world, [{ answer: { text: "Never said.", delayMs: 600_000 } }]);
  const started = Promise.withResolvers<RunHandle>();
  const url = await serve(() => {
    const handle = metier.start({ skill: "outer" });
    started.resolve(handle);
    return handle.toResponse();
  });
  const client = new AbortController();
  const response = await fetch(url, { signal: client.signal });
  await response.body?.getReader().read();
  const handle = await started.promise;
  expect(handle.status).toBe("running");
  client.abort();
  expect(await handle.result).toMatchObject({ status: "cancelled" });
});
