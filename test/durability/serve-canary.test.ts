/**
 * A secret that a durable run uses, prints, fails with and writes into its work folder is nowhere in the clear but in that
 * folder: not in the database and its log, snapshots, logs, events, metrics, errors, nor in what the model is told. The folder
 * is restored with it.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { startServe } from "../support/serve-process.ts";
import { startStreaming } from "../support/streaming-provider.ts";

const CANARY = "canary7Qz9Xw3Lk5Vb2Nm8Rt4";

const COMMANDS = [
  'echo "the token is $API_TOKEN"; echo "$API_TOKEN" > "$METIER_WORK_DIR/secret.txt"; mkdir "$METIER_WORK_DIR/$API_TOKEN"',
  'echo "cannot use $API_TOKEN" >&2; exit 3',
  'cat "$METIER_WORK_DIR/secret.txt"; ls "$METIER_WORK_DIR"',
];

/** As it is, and as other encodings have it, wherever it begins. */
function formsOf(secret: string): readonly string[] {
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]).toString("base64");
    return text.slice(4, -4);
  });
  return [secret, Buffer.from(secret).toString("hex"), ...base64];
}

function findIn(bytes: Buffer | string): readonly string[] {
  const text = typeof bytes === "string" ? bytes : bytes.toString("latin1");
  return formsOf(CANARY).filter((form) => text.includes(form));
}

/** Files below the folder that hold it, also in their names. */
function findBelow(folder: string, except: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => !path.startsWith(except))
    .filter(
      (path) => findIn(path).length > 0 || (statSync(path).isFile() && findIn(readFileSync(path)).length > 0),
    );
}

describeSandbox("a secret of a durable run", () => {
  test("is found in no file of the service, no log, event, metric or error, and its folder is restored with it", async () => {
    const world = createRunWorld({ deploy: ["env: [API_TOKEN]"] });
    const provider = await startStreaming((body) => {
      const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
      const command = COMMANDS[messages.filter(({ role }) => role === "tool").length];
      if (command === undefined) return { pieces: ["Done."] };
      return { pieces: [], call: { tool: "bash", input: { command } } };
    });
    world.write({ "home/.metier/config.toml": provider.toml });
    let server = await startServe(world.home);
    const seen: string[] = [];
    const call = async (...given: Parameters<typeof server.call>) => {
      const reply = await server.call(...given);
      seen.push(reply.text);
      return reply;
    };
    expect((await call("PUT", "/v1/secrets/API_TOKEN", { value: CANARY })).status).toBeLessThan(300);
    const started = await call("POST", "/v1/runs", { skill: "deploy", message: "Go." });
    const id = String(started.body.id);
    const work = join(world.home, ".metier", "state", "runs", id, "work");
    for (const [number] of COMMANDS.entries()) {
      // The answer before may not have reached the run yet, which waits until then.
      const asked = () => call("GET", "/v1/approvals?status=pending");
      await expect.poll(async () => (await asked()).body.data?.length).toBe(1);
      await server.settle(id, "waiting");
      const listed = await asked();
      if (number === 2) {
        // As on another machine: only what was kept is there.
        await server.kill();
        seen.push(...server.output);
        rmSync(work, { recursive: true });
        server = await startServe(world.home);
      }
      await call("POST", `/v1/approvals/${listed.body.data?.[0]?.id}`, { decision: "approve" });
    }
    expect(await server.settle(id, "completed", "failed")).toMatchObject({ status: "completed" });
    expect(readFileSync(join(work, "secret.txt"), "utf8")).toBe(`${CANARY}\n`);
    expect(existsSync(join(work, CANARY))).toBe(true);
    const paths = [
      `/v1/runs/${id}`,
      `/v1/runs/${id}/events`,
      "/v1/runs",
      "/v1/audit",
      "/v1/secrets",
      "/v1/usage",
    ];
    for (const path of [...paths, "/metrics", "/v1/approvals", `/v1/secrets/API_TOKEN`])
      await call("GET", path);
    await call("PUT", "/v1/secrets/API_TOKEN", { value: CANARY, [CANARY.slice(1)]: 1 });
    const { text: events } = await server.call("GET", `/v1/runs/${id}/events`);
    expect(events.match(/"type":"tool-finished"/g)).toHaveLength(3);
    expect(events).toContain("the token is [");
    await server.kill();
    seen.push(...server.output, ...provider.requests);
    expect(seen.filter((text) => findIn(text).length > 0)).toEqual([]);
    expect(findBelow(world.root, work)).toEqual([]);
    // That the search finds it where it is.
    expect(findBelow(work, "nothing").length).toBe(2);
    expect(existsSync(join(world.home, ".metier", "state", "service", "journal.db-wal"))).toBe(true);
  });
});
