/** `HttpAgent` of AG-UI, unmodified, against the service. */
import { type AgentSubscriber, HttpAgent, type Interrupt } from "@ag-ui/client";
import { expect, test } from "vitest";
import { ADMIN_KEY, type ClientWorld, openClientWorld, SAID } from "../support/client-world.ts";

interface Opened {
  readonly agent: HttpAgent;
  say(content: string): void;
  /** Types of events, how the last run ended, and what it asked. */
  readonly seen: { types: string[]; outcome?: string; interrupts: readonly Interrupt[]; run: string };
}

function openAgent(
  { url }: Pick<ClientWorld, "url">,
  { key = ADMIN_KEY, target = "skills/greet", threadId = "thread-1" } = {},
): Opened {
  const headers = { authorization: `Bearer ${key}` };
  const agent = new HttpAgent({ url: `${url}/ag-ui/${target}`, headers, threadId });
  const seen: Opened["seen"] = { types: [], interrupts: [], run: "" };
  const subscriber: AgentSubscriber = {
    onEvent: ({ event }) => void seen.types.push(event.type),
    onRunStartedEvent({ event }) {
      seen.run = (event.metadata as { metier: { run: string } }).metier.run;
    },
    onRunFinishedEvent(params) {
      seen.outcome = params.outcome;
      seen.interrupts = params.outcome === "interrupt" ? params.interrupts : [];
    },
  };
  agent.subscribe(subscriber);
  let count = 0;
  const say = (content: string): void => {
    count += 1;
    agent.messages.push({ id: `m-${count}`, role: "user", content });
  };
  return { agent, say, seen };
}

function answerOf({ messages }: HttpAgent): string {
  const said = messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
  return said.filter((content) => typeof content === "string").join("");
}

test("an agent streams the answer of a skill, and the thread goes on", async () => {
  const world = await openClientWorld();
  const { agent, say, seen } = openAgent(world);
  say("hello");
  const { result } = await agent.runAgent();
  expect([answerOf(agent), seen.outcome]).toEqual([SAID, "success"]);
  expect(result).toMatchObject({ text: SAID, run: seen.run });
  expect(seen.types).toEqual(
    expect.arrayContaining(["STEP_STARTED", "TEXT_MESSAGE_CONTENT", "STEP_FINISHED"]),
  );
  const first = seen.run;
  await agent.runAgent();
  expect(seen.run).toBe(first); // The same message again is the same run.
  agent.messages.push({ id: "again", role: "user", content: "hello again" });
  await agent.runAgent();
  expect([seen.outcome, seen.run === first]).toEqual(["success", false]);
});

test.each([true, false])("an approval is an interrupt that the next run answers: %s", async (approved) => {
  const world = await openClientWorld();
  const { agent, say, seen } = openAgent(world);
  say("build it");
  await agent.runAgent();
  expect(seen).toMatchObject({ outcome: "interrupt", interrupts: [{ reason: "tool_call" }] });
  const [asked] = seen.interrupts;
  expect(asked?.message).toContain("echo made-it");
  await agent.runAgent({
    resume: [{ interruptId: asked?.id ?? "", status: "resolved", payload: { approved, reason: "so" } }],
  });
  expect([seen.outcome, answerOf(agent)]).toEqual([
    "success",
    `I try. ${approved ? "It is built." : "It is not built."}`,
  ]);
  const results = agent.messages.filter(({ role }) => role === "tool");
  expect(results).toMatchObject([{ toolCallId: asked?.toolCallId }]);
});

test("a question is an interrupt, too", async () => {
  const world = await openClientWorld();
  const { agent, say, seen } = openAgent(world);
  say("ask me");
  await agent.runAgent();
  expect(seen.interrupts).toMatchObject([{ reason: "input_required", message: "Which color?" }]);
  const resume = seen.interrupts.map(({ id }) => {
    return { interruptId: id, status: "resolved" as const, payload: { answer: "blue" } };
  });
  await agent.runAgent({ resume });
  expect([seen.outcome, answerOf(agent)]).toEqual(["success", expect.stringContaining("blue")]);
});

test("text comes while it is written, and a cancelled run ends as cancelled", async () => {
  const world = await openClientWorld();
  const { agent, say, seen } = openAgent(world);
  say("hang");
  const running = agent.runAgent();
  // While it is being written.
  while (answerOf(agent) !== "Wait") await new Promise((resolve) => setTimeout(resolve, 10));
  await world.settle(seen.run, "running");
  await world.call("POST", `/v1/runs/${seen.run}/cancel`);
  await running;
  expect(seen.outcome).toBe("cancelled");
});

test("errors reach the agent with their status, and another tenant has no such thread", async () => {
  const world = await openClientWorld();
  const failure = async (more: Parameters<typeof openAgent>[1], text = "hello"): Promise<unknown> => {
    const { agent, say } = openAgent(world, more);
    say(text);
    return agent.runAgent().catch((error: unknown) => error);
  };
  expect(await failure({ key: "metier_wrong" })).toMatchObject({ status: 401 });
  expect(await failure({ target: "skills/nothing" })).toMatchObject({ status: 404 });
  expect(await failure({}, " ")).toMatchObject({ status: 400 });
  const member = await world.makeKey("member", { userId: "ada" });
  await world.call("PUT", "/v1/quotas", { users: { ada: { openRuns: 0 } } });
  expect(await failure({ key: member })).toMatchObject({ status: 429 });
  const { agent, say, seen } = openAgent(world);
  say("build it");
  await agent.runAgent();
  const stranger = await world.makeStranger();
  const [asked] = seen.interrupts;
  const stolen = openAgent(world, { key: stranger });
  const resume = [{ interruptId: asked?.id ?? "", status: "resolved" as const, payload: { approved: true } }];
  expect(await stolen.agent.runAgent({ resume }).catch((error: unknown) => error)).toMatchObject({
    status: 404,
  });
  expect((await world.call("GET", `/v1/approvals/${asked?.id}`)).status).toBe("pending");
});
