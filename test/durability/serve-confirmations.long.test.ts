/** Changes by capabilities in runs of `metier serve`: listed with the approvals, answered like them, and made once. */
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { type NotesBridge, writeNotesBridge } from "../support/notes-bridge.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { type ServeProcess, startServe } from "../support/serve-process.ts";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";
import type { World } from "../support/world.ts";

const add = (text: string): string =>
  `metier-sb capability invoke -c notes.pad -o add -i '${JSON.stringify({ text })}'`;

interface Served {
  readonly world: World;
  readonly bridge: NotesBridge;
}

/** A model that makes these calls one after the other, and then is done. */
async function createServed(...commands: readonly string[]): Promise<Served> {
  const world = createRunWorld({ pad: ["capabilities: [notes.pad]"] });
  const bridge = writeNotesBridge(join(world.root, "bridge"));
  const provider = await startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const command = commands[messages.filter(({ role }) => role === "tool").length];
    return command === undefined
      ? { pieces: ["Done."] }
      : { pieces: [], call: { tool: "bash", input: { command } } };
  });
  world.write({ "home/.metier/config.toml": `${provider.toml}${bridge.config}` });
  return { world, bridge };
}

/** `allow` says yes to tools, and to nothing else. */
async function startRun(server: ServeProcess): Promise<string> {
  const made = await server.call("POST", "/v1/keys", {
    name: "ada",
    scopes: ["read", "run", "approve"],
    userId: "ada",
  });
  const order = { skill: "pad", message: "Go.", approve: "allow" };
  const { status, body } = await server.call("POST", "/v1/runs", order, String(made.body.key));
  expect(status).toBe(201);
  return String(body.id);
}

async function pending(server: ServeProcess): Promise<JsonObject> {
  for (;;) {
    const { body } = await server.call("GET", "/v1/approvals?status=pending");
    const [asked] = body.data ?? [];
    if (asked !== undefined) return asked;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function madeBy({ bridge }: Served): readonly string[] {
  return bridge.asked().filter((line) => line.startsWith("invoke"));
}

describeSandbox("a change by a capability over HTTP", () => {
  test("is listed as what it is, cannot be edited, survives a kill, and is made once after the first answer", async () => {
    const served = await createServed(`echo before >> "$METIER_WORK_DIR/log.txt"; ${add("milk")}`);
    let server = await startServe(served.world.home);
    const id = await startRun(server);
    const asked = await pending(server);
    expect(asked).toMatchObject({
      run: id,
      kind: "confirmation",
      status: "pending",
      tool: "notes.pad add",
      capability: "notes.pad",
      operation: "add",
      description: "Does add.",
      user: "ada",
      skill: "pad",
      input: { text: "milk" },
    });
    await server.settle(id, "waiting");
    await server.kill();
    server = await startServe(served.world.home);
    const path = `/v1/approvals/${asked.id}`;
    const edited = await server.call("POST", path, { decision: "approve", input: { text: "beer" } });
    expect([edited.status, edited.body.error?.message]).toEqual([
      422,
      expect.stringContaining("cannot be edited"),
    ]);
    const replies = await Promise.all([
      server.call("POST", path, { decision: "approve" }),
      server.call("POST", path, { decision: "approve" }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const ended = await server.settle(id, "completed", "failed");
    expect(ended).toMatchObject({ status: "completed", capabilities: [{ operation: "add", calls: 1 }] });
    expect(madeBy(served)).toEqual(['invoke add {"text":"milk"}']);
    expect((await server.call("GET", `/v1/runs/${id}/files/log.txt`)).text).toBe("before\n");
    const audit = await server.call("GET", "/v1/audit");
    expect(audit.body.data).toContainEqual(
      expect.objectContaining({
        action: "confirmation.approved",
        detail: { run: id, tool: "notes.pad add", isEdited: false },
      }),
    );
  });

  test("that is denied, or that nobody answers in time, is not made, and the model is told why", async () => {
    const served = await createServed(add("milk"), add("beer"));
    const server = await startServe(served.world.home, { flags: ["--answer-within", "3"] });
    const id = await startRun(server);
    const { id: asked } = await pending(server);
    await server.call("POST", `/v1/approvals/${asked}`, { decision: "deny", note: "not today" });
    expect(await server.settle(id, "completed", "failed")).toMatchObject({ status: "completed" });
    const { text } = await server.call("GET", `/v1/runs/${id}/events`);
    expect(text).toContain("declined: not today");
    expect(text).toContain("nobody answered in time");
    expect(madeBy(served)).toEqual([]);
    const { body } = await server.call("GET", "/v1/approvals");
    const late = await server.call("POST", `/v1/approvals/${body.data?.[1]?.id}`, { decision: "approve" });
    expect([late.status, late.body.error?.code]).toEqual([410, "expired"]);
  });

  test("of a cancelled run is withdrawn", async () => {
    const served = await createServed(add("milk"));
    const server = await startServe(served.world.home);
    const id = await startRun(server);
    const { id: asked } = await pending(server);
    await server.call("POST", `/v1/runs/${id}/cancel`);
    await server.settle(id, "cancelled");
    const late = await server.call("POST", `/v1/approvals/${asked}`, { decision: "approve" });
    expect([late.status, late.body.error?.code]).toEqual([409, "run_cancelled"]);
    expect(madeBy(served)).toEqual([]);
  });
});
