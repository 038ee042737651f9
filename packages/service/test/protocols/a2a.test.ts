/** The client of the A2A SDK, unmodified, against the service. */
import {
  type ListTasksRequest,
  type Message,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { expect, test } from "vitest";
import { ADMIN_KEY, type ClientWorld, openClientWorld, SAID } from "../support/client-world.ts";

function connect({ url }: Pick<ClientWorld, "url">, key = ADMIN_KEY): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(`${url}/a2a/`);
}

let count = 0;

function message(
  content: string | { readonly [name: string]: unknown },
  more: Partial<Message> = {},
): Message {
  count += 1;
  const value =
    typeof content === "string"
      ? { $case: "text" as const, value: content }
      : { $case: "data" as const, value: content };
  return {
    messageId: `m-${count}`,
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [{ content: value, metadata: undefined, filename: "", mediaType: "" }],
    metadata: { skill: "greet" },
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

function send(sent: Message) {
  return { tenant: "", message: sent, configuration: undefined, metadata: undefined };
}

function page(pageSize: number, pageToken = ""): ListTasksRequest {
  return {
    tenant: "",
    contextId: "",
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageSize,
    pageToken,
    statusTimestampAfter: undefined,
  };
}

function textOf(task: Task): string {
  const parts = task.artifacts.flatMap((artifact) => artifact.parts);
  return parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
}

async function ask(client: Client, sent: Message): Promise<Task> {
  const answer = await client.sendMessage(send(sent));
  if (!("status" in answer)) throw new Error("No task was made.");
  return answer;
}

interface Seen {
  text: string;
  readonly states: TaskState[];
  task: string;
}

async function follow(
  stream: AsyncIterable<StreamResponse>,
  seen: Seen = { text: "", states: [], task: "" },
): Promise<Seen> {
  for await (const { payload } of stream) {
    if (payload?.$case === "task") seen.task = payload.value.id;
    if (payload?.$case === "statusUpdate")
      seen.states.push(payload.value.status?.state ?? TaskState.UNRECOGNIZED);
    if (payload?.$case !== "artifactUpdate") continue;
    for (const { content } of payload.value.artifact?.parts ?? [])
      seen.text += content?.$case === "text" ? content.value : "";
  }
  return seen;
}

test("the card lists the skills, and a message is answered, streamed and continued", async () => {
  const world = await openClientWorld();
  const client = await connect(world);
  const card = await client.getAgentCard();
  expect(card.skills.map(({ id }) => id)).toEqual(expect.arrayContaining(["greet", "other"]));
  const task = await ask(client, message("hello"));
  expect([task.status?.state, textOf(task)]).toEqual([TaskState.TASK_STATE_COMPLETED, SAID]);
  const seen = await follow(
    client.sendMessageStream(send(message("hello", { contextId: task.contextId, metadata: undefined }))),
  );
  expect([seen.text, seen.states.at(-1)]).toEqual([SAID, TaskState.TASK_STATE_COMPLETED]);
  const first = await client.listTasks(page(1));
  const rest = await client.listTasks(page(1, first.nextPageToken));
  expect([...first.tasks, ...rest.tasks].map(({ id }) => id)).toEqual([seen.task, task.id]);
  expect((await client.listTasks(page(1, rest.nextPageToken))).tasks).toEqual([]);
});

test.each([true, false])(
  "an approval is input-required, and the task goes on after the answer: %s",
  async (approved) => {
    const world = await openClientWorld();
    const client = await connect(world);
    const { id: taskId, status } = await ask(client, message("build it"));
    expect(status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(JSON.stringify(status?.message)).toContain("echo made-it");
    const seen = await follow(
      client.sendMessageStream(send(message({ approved, reason: "so" }, { taskId }))),
    );
    expect(seen.states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(seen.text).toBe(approved ? "It is built." : "It is not built.");
  },
);

test("a question is input-required, too, and text answers it", async () => {
  const world = await openClientWorld();
  const client = await connect(world);
  const { id: taskId, status } = await ask(client, message("ask me"));
  expect(JSON.stringify(status?.message)).toContain("Which color?");
  expect(textOf(await ask(client, message("blue", { taskId })))).toContain("blue");
});

test("text comes while it is written, a task is subscribed to, and cancelled", async () => {
  const world = await openClientWorld();
  const client = await connect(world);
  const seen: Seen = { text: "", states: [], task: "" };
  const streaming = follow(client.sendMessageStream(send(message("hang"))), seen);
  while (seen.text !== "Wait") await new Promise((resolve) => setTimeout(resolve, 10));
  const other = follow(client.resubscribeTask({ tenant: "", id: seen.task }));
  await client.cancelTask({ tenant: "", id: seen.task, metadata: undefined });
  expect((await streaming).states.at(-1)).toBe(TaskState.TASK_STATE_CANCELED);
  expect((await other).states.at(-1)).toBe(TaskState.TASK_STATE_CANCELED);
  const again = client.cancelTask({ tenant: "", id: seen.task, metadata: undefined });
  await expect(again).rejects.toMatchObject({ name: "TaskNotCancelableError" });
});

test("errors are those of the SDK, and another tenant has no such task", async () => {
  const world = await openClientWorld();
  await expect(connect(world, "metier_wrong")).rejects.toThrow("401");
  const client = await connect(world);
  await expect(
    client.getTask({ tenant: "", id: "nothing" } as Parameters<Client["getTask"]>[0]),
  ).rejects.toMatchObject({
    name: "TaskNotFoundError",
  });
  await expect(ask(client, message("hello", { metadata: { skill: "nothing" } }))).rejects.toThrow("nothing");
  await expect(ask(client, message("hello", { metadata: undefined }))).rejects.toThrow("metadata");
  const member = await connect(world, await world.makeKey("member", { userId: "ada" }));
  await world.call("PUT", "/v1/quotas", { users: { ada: { openRuns: 0 } } });
  await expect(ask(member, message("hello"))).rejects.toThrow(/quota|open runs|at most|limit/i);
  const { id, contextId } = await ask(client, message("build it"));
  const stranger = await connect(world, await world.makeStranger());
  expect((await stranger.getAgentCard()).skills).toEqual([]);
  const foreign = [
    stranger.getTask({ tenant: "", id } as Parameters<Client["getTask"]>[0]),
    stranger.cancelTask({ tenant: "", id, metadata: undefined }),
    ask(stranger, message({ approved: true }, { taskId: id })),
    ask(stranger, message("hello", { contextId })),
  ];
  for (const attempt of await Promise.allSettled(foreign))
    expect(attempt).toMatchObject({ reason: { name: "TaskNotFoundError" } });
  expect((await stranger.listTasks(page(10))).tasks).toEqual([]);
});
