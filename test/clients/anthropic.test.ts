/** Anthropic's own SDK, unmodified, against the service: only its base URL and its key are Metier's. */
import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { openProtocolService, type ProtocolService } from "../support/protocol-service.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { skillText } from "../support/temporary.ts";

const ENVIRONMENT = "env_metier";

function clientOf({ url }: Pick<ProtocolService, "url">, apiKey: string): Anthropic {
  return new Anthropic({ baseURL: `${url}/anthropic`, apiKey, maxRetries: 0 });
}

async function openSession(client: Anthropic): Promise<string> {
  const tools = [{ type: "agent_toolset_20260401" as const }];
  const agent = await client.beta.agents.create({
    name: "My Writer",
    model: "default",
    system: "Help.",
    tools,
  });
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: ENVIRONMENT });
  return session.id;
}

type Streamed = Anthropic.Beta.Sessions.BetaManagedAgentsStreamSessionEvents;

/** Sends a text, and gives what comes until the session is idle. */
async function say(client: Anthropic, session: string, text: string, whenWaiting?: "allow" | "deny") {
  const stream = await client.beta.sessions.events.stream(session, { event_deltas: ["agent.message"] });
  const content = [{ type: "text" as const, text }];
  await client.beta.sessions.events.send(session, { events: [{ type: "user.message", content }] });
  const seen: Streamed[] = [];
  for await (const event of stream) {
    seen.push(event);
    if (event.type !== "session.status_idle") continue;
    if (event.stop_reason.type !== "requires_action" || whenWaiting === undefined) break;
    const events = event.stop_reason.event_ids.map((tool_use_id) => {
      const answer = { type: "user.tool_confirmation" as const, tool_use_id, result: whenWaiting };
      return whenWaiting === "deny" ? { ...answer, deny_message: "Not today." } : answer;
    });
    await client.beta.sessions.events.send(session, { events });
  }
  return seen;
}

function typesOf(seen: readonly { readonly type: string }[]): readonly string[] {
  return seen.map(({ type }) => type);
}

describeSandbox("Anthropic's SDK", () => {
  test("a run streams, waits for a confirmation, goes on after yes, and ends; the list tells the same", async () => {
    const service = await openProtocolService();
    const client = clientOf(service, service.key);
    const session = await openSession(client);
    const hello = await say(client, session, "Hello?");
    const pieces = hello.flatMap((event) => (event.type === "event_delta" ? [event.delta.content.text] : []));
    expect(pieces.join("")).toBe("Hello, world.");
    expect(typesOf(hello)).toEqual(
      expect.arrayContaining([
        "user.message",
        "session.status_running",
        "agent.message",
        "session.status_idle",
      ]),
    );
    const allowed = await say(client, session, "run: echo made > made.txt; cat made.txt", "allow");
    const use = allowed.find((event) => event.type === "agent.tool_use");
    expect(use).toMatchObject({ name: "bash", evaluated_permission: "ask" });
    expect(allowed.find((event) => event.type === "agent.tool_result")).toMatchObject({
      tool_use_id: use?.id,
      is_error: false,
      content: [{ text: expect.stringContaining("made") }],
    });
    const listed: string[] = [];
    for await (const { id } of client.beta.sessions.events.list(session, { limit: 3 })) listed.push(id);
    const streamed = [...hello, ...allowed].flatMap((event) => ("id" in event ? [event.id] : []));
    expect(listed).toEqual(streamed);
    expect(new Set(listed).size).toBe(listed.length);
    const now = await client.beta.sessions.retrieve(session);
    expect(now).toMatchObject({ status: "idle", agent: { name: "My Writer", version: 1 } });
  });

  test("a call that is denied does not happen, and its note reaches the model; an interrupt cancels the run", async () => {
    const service = await openProtocolService();
    const client = clientOf(service, service.key);
    const session = await openSession(client);
    const denied = await say(client, session, "run: echo no > no.txt", "deny");
    expect(denied.find((event) => event.type === "agent.tool_result")).toMatchObject({
      is_error: true,
      content: [{ text: expect.stringContaining("Not today.") }],
    });
    const stream = await client.beta.sessions.events.stream(session);
    const content = [{ type: "text" as const, text: "hang" }];
    await client.beta.sessions.events.send(session, { events: [{ type: "user.message", content }] });
    const busy = client.beta.sessions.events.send(session, { events: [{ type: "user.message", content }] });
    await expect(busy).rejects.toBeInstanceOf(Anthropic.ConflictError);
    const types: string[] = [];
    for await (const { type } of stream) {
      types.push(type);
      if (type === "session.status_running")
        await client.beta.sessions.events.send(session, { events: [{ type: "user.interrupt" }] });
      if (type === "session.status_idle") break;
    }
    expect(types).toEqual([
      "user.message",
      "session.status_running",
      "user.interrupt",
      "session.status_idle",
    ]);
  });

  test("a question of the run to its user is a custom tool; a key that may not approve may answer it, and no more", async () => {
    const service = await openProtocolService();
    await service.call("POST", "/v1/agents", { name: "asker", instructions: "Ask." });
    const member = await service.call("POST", "/v1/keys", { role: "member", name: "member" });
    const client = clientOf(service, String(member.key));
    const { sessions } = client.beta;
    const { id } = await sessions.create({ agent: "asker", environment_id: ENVIRONMENT });
    const asked = await say(client, id, "ask: Which color?");
    const use = asked.find((event) => event.type === "agent.custom_tool_use");
    expect(use).toMatchObject({ name: "ask_user", input: { question: "Which color?" } });
    expect(asked.at(-1)).toMatchObject({ stop_reason: { type: "requires_action", event_ids: [use?.id] } });
    const stream = await sessions.events.stream(id);
    const content = [{ type: "text" as const, text: "Blue." }];
    const answer = { type: "user.custom_tool_result" as const, custom_tool_use_id: use?.id ?? "", content };
    await sessions.events.send(id, { events: [answer] });
    for await (const event of stream) {
      if (event.type === "agent.message") expect(JSON.stringify(event.content)).toContain("Blue.");
      if (event.type === "session.status_idle") break;
    }
    const waiting = (await say(client, id, "run: echo no > no.txt")).at(-1);
    const ids =
      waiting?.type === "session.status_idle" && waiting.stop_reason.type === "requires_action"
        ? waiting.stop_reason.event_ids
        : [];
    expect(ids).toHaveLength(1);
    const tool_use_id = ids[0] ?? "";
    const allow = { type: "user.tool_confirmation" as const, tool_use_id, result: "allow" as const };
    await expect(sessions.events.send(id, { events: [allow] })).rejects.toBeInstanceOf(
      Anthropic.PermissionDeniedError,
    );
    const other = await sessions.create({ agent: "asker", environment_id: ENVIRONMENT });
    const elsewhere = clientOf(service, service.key).beta.sessions.events.send(other.id, { events: [allow] });
    await expect(elsewhere).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });

  test("errors are the SDK's own: a wrong key, an unknown id, a wrong field, a quota", async () => {
    const service = await openProtocolService();
    const client = clientOf(service, service.key);
    const { sessions, agents } = client.beta;
    await expect(clientOf(service, "metier_x_y").beta.agents.list()).rejects.toBeInstanceOf(
      Anthropic.AuthenticationError,
    );
    await expect(agents.retrieve("nobody")).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    await expect(sessions.retrieve("ses-0")).rejects.toMatchObject({
      status: 404,
      error: { type: "error", error: { type: "not_found_error" } },
    });
    await expect(agents.create({ name: "x", model: { id: "m", speed: "fast" } })).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    );
    await expect(agents.create({ name: "x", model: "m", metadata: { a: "b" } })).rejects.toThrow(/metadata/);
    await expect(sessions.create({ agent: "nobody", environment_id: ENVIRONMENT })).rejects.toBeInstanceOf(
      Anthropic.NotFoundError,
    );
    const { id, key } = await service.makeTenant("small");
    await service.call("PUT", `/v1/tenants/${id}/quotas`, { startsPerMinute: 1 });
    const small = clientOf(service, key);
    const session = await openSession(small);
    await say(small, session, "Hello?");
    await expect(say(small, session, "Again?")).rejects.toBeInstanceOf(Anthropic.RateLimitError);
    const viewer = await service.call("POST", "/v1/keys", { role: "viewer", name: "viewer" });
    await expect(openSession(clientOf(service, String(viewer.key)))).rejects.toBeInstanceOf(
      Anthropic.PermissionDeniedError,
    );
  });

  test("agents have versions and pages, skills are uploaded file by file, and another tenant sees none of it", async () => {
    const service = await openProtocolService();
    const client = clientOf(service, service.key);
    const names = ["One", "Two", "Three"];
    for (const name of names) await client.beta.agents.create({ name, model: "default" });
    const listed: string[] = [];
    for await (const { name } of client.beta.agents.list({ limit: 2 })) listed.push(name);
    expect(listed).toEqual(names);
    const changed = await client.beta.agents.update("one", { version: 1, description: "Changed." });
    expect(changed).toMatchObject({ id: "one", version: 2, name: "One", description: "Changed." });
    await expect(client.beta.agents.update("one", { version: 1, system: "x" })).rejects.toMatchObject({
      status: 409,
    });
    expect((await client.beta.agents.retrieve("one", { version: 1 })).description).toBeNull();
    expect((await client.beta.agents.archive("two")).archived_at).not.toBeNull();
    await expect(client.beta.agents.retrieve("two")).rejects.toMatchObject({ status: 404 });

    const upload = (body: string) => [
      new File([skillText("name: notes\ndescription: Takes notes.", body)], "notes/SKILL.md"),
      new File(["More."], "notes/docs/more.md"),
    ];
    const skill = await client.beta.skills.create({ files: upload("One.") });
    expect(skill).toMatchObject({ id: "notes", display_name: "notes", source: { type: "custom" } });
    const second = await client.beta.skills.versions.create("notes", { files: upload("Two.") });
    expect((await client.beta.skills.retrieve("notes")).latest_version_id).toBe(second.id);
    const versions: string[] = [];
    for await (const { id } of client.beta.skills.versions.list("notes", { limit: 1 })) versions.push(id);
    expect(versions).toEqual([second.id, skill.latest_version_id]);
    const other = [new File([skillText("name: other\ndescription: Other.")], "other/SKILL.md")];
    await expect(client.beta.skills.versions.create("notes", { files: other })).rejects.toMatchObject({
      status: 400,
    });

    const session = await openSession(client);
    const another = await client.beta.sessions.create({ agent: "one", environment_id: ENVIRONMENT });
    const opened: string[] = [];
    for await (const { id } of client.beta.sessions.list({ limit: 1 })) opened.push(id);
    expect(opened.toSorted()).toEqual([session, another.id].toSorted());
    const stranger = clientOf(service, (await service.makeTenant("stranger")).key);
    for (const seen of [
      stranger.beta.agents.list(),
      stranger.beta.sessions.list(),
      stranger.beta.skills.list(),
    ])
      expect((await seen).data).toEqual([]);
    const content = [{ type: "text" as const, text: "Hello?" }];
    const tries = [
      stranger.beta.agents.retrieve("one"),
      stranger.beta.agents.update("one", { system: "x" }),
      stranger.beta.agents.archive("one"),
      stranger.beta.sessions.retrieve(session),
      stranger.beta.sessions.events.send(session, { events: [{ type: "user.message", content }] }),
      stranger.beta.sessions.events.stream(session),
      stranger.beta.sessions.events.list(session),
      stranger.beta.skills.retrieve("notes"),
      stranger.beta.skills.delete("notes"),
    ];
    await Promise.all(tries.map((tried) => expect(tried).rejects.toBeInstanceOf(Anthropic.NotFoundError)));
    await client.beta.skills.versions.delete(second.id, { skill_id: "notes" });
    expect(await client.beta.skills.delete("notes")).toEqual({ id: "notes", type: "skill_deleted" });
  });
});
