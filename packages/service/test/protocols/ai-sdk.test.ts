/** The AI SDK's chat with its `DefaultChatTransport`, unmodified, against the service. */
import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { expect, test } from "vitest";
import { ADMIN_KEY, type ClientWorld, openClientWorld, SAID } from "../support/client-world.ts";

/** What `useChat` keeps, without a page. */
class PlainState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>["status"] = "ready";
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => void this.messages.push(message);
  popMessage = (): void => void this.messages.pop();
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages[index] = message;
  };
  snapshot = <Value>(value: Value): Value => structuredClone(value);
}

class Chat extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>) {
    super({ ...init, state: new PlainState() });
  }

  get text(): string {
    const parts = this.lastMessage?.parts ?? [];
    return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  }

  get tools() {
    return (this.lastMessage?.parts ?? []).filter(isToolUIPart);
  }
}

function openChat(
  { url }: Pick<ClientWorld, "url">,
  more: { key?: string; target?: string; id?: string } = {},
): Chat {
  const { key = ADMIN_KEY, target = "skills/greet", id = "chat-1" } = more;
  const headers = { authorization: `Bearer ${key}` };
  const transport = new DefaultChatTransport({ api: `${url}/ai-sdk/${target}`, headers });
  return new Chat({
    id,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("a chat streams the answer of a skill, and of an agent that remembers", async () => {
  const world = await openClientWorld();
  const chat = openChat(world);
  await chat.sendMessage({ text: "hello" });
  expect([chat.error, chat.status, chat.text]).toEqual([undefined, "ready", SAID]);
  expect(chat.lastMessage?.metadata).toMatchObject({ status: "completed" });
  await world.call("POST", "/v1/agents", { name: "guide", instructions: "Guide." });
  const guided = openChat(world, { target: "agents/guide" });
  await guided.sendMessage({ text: "hello" });
  await guided.sendMessage({ text: "hello again" });
  expect([guided.messages.length, guided.text]).toEqual([4, SAID]);
});

test.each([true, false])(
  "an approval interrupts the message, and it goes on after the answer: %s",
  async (approved) => {
    const world = await openClientWorld();
    const chat = openChat(world);
    await chat.sendMessage({ text: "build it" });
    const [asked] = chat.tools;
    expect(asked).toMatchObject({ state: "approval-requested", input: { command: "echo made-it" } });
    expect(asked && getToolName(asked)).toBe("bash");
    await chat.addToolApprovalResponse({ id: asked?.approval?.id ?? "", approved, reason: "as I said" });
    await until(() => chat.text.includes("built."));
    await until(() => chat.status === "ready");
    expect(chat.text).toBe(`I try. ${approved ? "It is built." : "It is not built."}`);
    expect(chat.tools).toMatchObject([{ state: approved ? "output-available" : "output-denied" }]);
    expect(chat.messages).toHaveLength(2);
  },
);

test("a question is a call of `ask_user` that the client answers", async () => {
  const world = await openClientWorld();
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const transport = new DefaultChatTransport({ api: `${world.url}/ai-sdk/skills/greet`, headers });
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithToolCalls;
  const chat = new Chat({ id: "asked", transport, sendAutomaticallyWhen });
  await chat.sendMessage({ text: "ask me" });
  expect(chat.tools).toMatchObject([{ state: "input-available", input: { question: "Which color?" } }]);
  await chat.addToolOutput({ tool: "ask_user", toolCallId: chat.tools[0]?.toolCallId ?? "", output: "blue" });
  await until(() => chat.text.includes("blue") && chat.status === "ready");
});

test("text comes while it is written, a cancelled run ends the message, and a reader that comes back gets what is being written", async () => {
  const world = await openClientWorld();
  const chat = openChat(world);
  const sending = chat.sendMessage({ text: "hang" });
  await until(() => chat.text === "Wait");
  const back = openChat(world);
  const resumed = back.resumeStream();
  await until(() => back.lastMessage !== undefined);
  const { runId = "" } = (chat.lastMessage?.metadata ?? {}) as { runId?: string };
  await world.call("POST", `/v1/runs/${runId}/cancel`);
  await Promise.all([sending, resumed]);
  expect((await world.settle(runId, "cancelled")).status).toBe("cancelled");
  const idle = openChat(world);
  await idle.resumeStream();
  expect([idle.messages, idle.error]).toEqual([[], undefined]);
});

test("errors have the status that the SDK throws with, and another tenant has no such chat", async () => {
  const world = await openClientWorld();
  const failure = async (more: Parameters<typeof openChat>[1], text = "hello") => {
    const chat = openChat(world, more);
    await chat.sendMessage({ text });
    return chat.error as unknown;
  };
  expect(await failure({ key: "metier_wrong" })).toMatchObject({ name: "AI_APICallError", statusCode: 401 });
  expect(await failure({ target: "skills/nothing" })).toMatchObject({ statusCode: 404 });
  expect(await failure({}, "")).toMatchObject({ statusCode: 400 });
  const member = await world.makeKey("member", { userId: "ada" });
  await world.call("PUT", "/v1/quotas", { users: { ada: { openRuns: 0 } } });
  expect(await failure({ key: member })).toMatchObject({ statusCode: 429 });
  const chat = openChat(world);
  await chat.sendMessage({ text: "build it" });
  const stranger = openChat(world, { key: await world.makeStranger() });
  await stranger.resumeStream();
  expect([stranger.messages, (stranger.error as unknown as { statusCode: number }).statusCode]).toEqual([
    [],
    404,
  ]);
});
