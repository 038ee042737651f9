/** OpenAI's own SDK, unmodified, against the service: only its base URL and its key are Metier's. */
import OpenAI from "openai";
import { expect, test } from "vitest";
import { openProtocolService, type ProtocolService } from "../support/protocol-service.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { skillText } from "../support/temporary.ts";

const MODEL = "skill/greet";

function clientOf({ url }: Pick<ProtocolService, "url">, apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/openai/v1`, apiKey, maxRetries: 0 });
}

type Event = OpenAI.Responses.ResponseStreamEvent;

async function collect(stream: AsyncIterable<Event>): Promise<readonly Event[]> {
  const seen: Event[] = [];
  for await (const event of stream) seen.push(event);
  return seen;
}

/** The approvals that a response asks for, all answered alike. */
function answersTo({ output }: OpenAI.Responses.Response, approve: boolean, reason?: string) {
  return output.flatMap((item) =>
    item.type === "mcp_approval_request"
      ? [
          {
            type: "mcp_approval_response" as const,
            approval_request_id: item.id,
            approve,
            reason: reason ?? null,
          },
        ]
      : [],
  );
}

describeSandbox("OpenAI's SDK", () => {
  test("a response streams; another one continues the conversation, waits for approval, and goes on after yes and no", async () => {
    const service = await openProtocolService();
    const client = clientOf(service, service.key);
    const stream = client.responses.stream({ model: MODEL, input: "Hello?" });
    const deltas: string[] = [];
    stream.on("response.output_text.delta", ({ delta }) => void deltas.push(delta));
    const first = await stream.finalResponse();
    expect(first).toMatchObject({ status: "completed", model: MODEL, output_text: "Hello, world." });
    expect(deltas.join("")).toBe("Hello, world.");

    const asks = await client.responses.create({
      model: MODEL,
      input: [{ role: "user", content: "run: echo made > made.txt; cat made.txt" }],
      previous_response_id: first.id,
    });
    expect(asks.output.at(-1)).toMatchObject({ type: "mcp_approval_request", name: "bash" });
    // Approvals belong to the response that asked for them.
    const elsewhere = client.responses.create({
      model: MODEL,
      previous_response_id: asks.id.replace(/_\d+$/, "_9"),
      input: answersTo(asks, true),
    });
    await expect(elsewhere).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const done = await client.responses.create({
      model: MODEL,
      previous_response_id: asks.id,
      input: answersTo(asks, true),
    });
    expect(done).toMatchObject({ status: "completed", previous_response_id: asks.id });
    expect(done.output).toMatchObject([
      { type: "mcp_call", name: "bash", status: "completed", output: expect.stringContaining("made") },
      { type: "message" },
    ]);
    expect(await client.responses.retrieve(asks.id)).toMatchObject({
      status: "completed",
      output: asks.output,
    });

    const again = await client.responses.create({ model: MODEL, input: "run: echo no > no.txt" });
    const denied = await client.responses.create({
      model: MODEL,
      previous_response_id: again.id,
      input: answersTo(again, false, "Not today."),
    });
    expect(denied.output[0]).toMatchObject({
      type: "mcp_call",
      error: expect.stringContaining("Not today."),
    });
    const twice = client.responses.create({ previous_response_id: again.id, input: answersTo(again, true) });
    await expect(twice).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });

  test("in the background: polled, read again from any number without a gap or a double, and cancelled", async () => {
    const service = await openProtocolService();
    const client = clientOf(service, service.key);
    const begun = await client.responses.create({
      model: MODEL,
      input: "Hello?",
      background: true,
      stream: true,
    });
    const whole = await collect(begun);
    const numbers = whole.map((event) => event.sequence_number);
    expect(numbers).toEqual(whole.map((_, index) => index));
    const last = whole.at(-1);
    const id = last?.type === "response.completed" ? last.response.id : "";
    expect(await client.responses.retrieve(id)).toMatchObject({
      status: "completed",
      output_text: "Hello, world.",
    });
    for (const after of [0, 3, numbers.length - 2]) {
      const rest = await collect(
        await client.responses.retrieve(id, { stream: true, starting_after: after }),
      );
      expect(rest).toEqual(whole.slice(after + 1));
    }
    const hanging = await client.responses.create({ model: MODEL, input: "hang", background: true });
    expect(["queued", "in_progress"]).toContain(hanging.status);
    const live = await client.responses.retrieve(hanging.id, { stream: true });
    expect(await client.responses.cancel(hanging.id)).toMatchObject({ id: hanging.id, status: "cancelled" });
    expect((await collect(live)).at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { status: "cancelled" },
    });
  });

  test("errors are the SDK's own: a wrong key, an unknown id, a wrong field, a quota", async () => {
    const service = await openProtocolService();
    const client = clientOf(service, service.key);
    const input = "Hello?";
    await expect(clientOf(service, "metier_x_y").models.list()).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    await expect(client.responses.retrieve("resp_x_0")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(client.responses.create({ model: "skill/none", input })).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
    });
    await expect(client.responses.create({ model: MODEL, input, temperature: 1 })).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    );
    const { id, key } = await service.makeTenant("small");
    await service.call("POST", `/v1/tenants/${id}/skills`, { name: "greet" });
    await service.call("PUT", `/v1/tenants/${id}/quotas`, { startsPerMinute: 1 });
    const small = clientOf(service, key);
    const mine = await small.responses.create({ model: MODEL, input });
    await expect(small.responses.create({ model: MODEL, input })).rejects.toBeInstanceOf(
      OpenAI.RateLimitError,
    );
    await expect(client.responses.retrieve(mine.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(client.responses.cancel(mine.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const next = client.responses.create({ model: MODEL, input, previous_response_id: mine.id });
    await expect(next).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test("skills are uploaded, listed in pages, have versions, and are not another tenant's; agents are models", async () => {
    const service = await openProtocolService();
    const client = clientOf(service, service.key);
    const upload = (name: string, body: string) => [
      new File([skillText(`name: ${name}\ndescription: Takes notes.`, body)], `${name}/SKILL.md`),
      new File(["More."], `${name}/docs/more.md`),
    ];
    const skill = await client.skills.create({ files: upload("notes", "One.") });
    expect(skill).toMatchObject({ id: "notes", name: "notes", object: "skill", description: "Takes notes." });
    const second = await client.skills.versions.create("notes", { files: upload("notes", "Two.") });
    const versions: string[] = [];
    for await (const { version } of client.skills.versions.list("notes", { limit: 1 }))
      versions.push(version);
    expect(versions).toEqual([second.version, skill.latest_version]);
    await client.skills.create({ files: upload("other", "One.") });
    const names: string[] = [];
    for await (const { name } of client.skills.list({ limit: 1 })) names.push(name);
    expect(names.toSorted()).toEqual(["notes", "other"]);

    await service.call("POST", "/v1/agents", { name: "writer", instructions: "Help." });
    const models = (await client.models.list()).data.map(({ id }) => id);
    expect(models).toEqual(expect.arrayContaining([MODEL, "skill/notes", "writer"]));
    const said = await client.responses.create({ model: "writer", input: "Hello?" });
    expect(said.output_text).toBe("Hello, world.");

    const stranger = clientOf(service, (await service.makeTenant("stranger")).key);
    expect((await stranger.skills.list()).data).toEqual([]);
    expect((await stranger.models.list()).data).toEqual([]);
    const tries = [
      stranger.skills.retrieve("notes"),
      stranger.skills.delete("notes"),
      stranger.skills.versions.list("notes"),
      stranger.skills.versions.delete(second.version, { skill_id: "notes" }),
      stranger.responses.create({ model: "writer", input: "Hello?" }),
    ];
    await Promise.all(tries.map((tried) => expect(tried).rejects.toBeInstanceOf(OpenAI.NotFoundError)));
    expect(await client.skills.delete("other")).toMatchObject({ deleted: true });
  });
});
