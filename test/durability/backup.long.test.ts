/**
 * A backup by `pg_dump` and a copy of the object store while a service is at work, restored into an empty database: runs that
 * waited for a person go on with new machines as if nothing had been.
 */
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findPostgres } from "../../scripts/postgres/cluster.mjs";
import { createMachines } from "../support/machines.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { describeSandbox } from "../support/sandbox.ts";
import type { ServeProcess } from "../support/serve-process.ts";
import { newSharedPlaces } from "../support/shared-places.ts";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";
import { temporaryFolder } from "../support/temporary.ts";

const WAITING = 6;

/** A file, and a call that reads it; a person has to allow both. */
async function startModel() {
  return startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const made = messages.filter(({ role }) => role === "tool").length;
    const [, number = ""] = /ORDER (\d+)/.exec(body) ?? [];
    if (made === 0)
      return { pieces: [], call: { tool: "write_file", input: { path: "a.txt", content: number } } };
    if (made > 1) return { pieces: [`Order ${number} is done.`] };
    const command = 'cat "$METIER_WORK_DIR/a.txt" > "$METIER_WORK_DIR/b.txt"';
    return { pieces: [], call: { tool: "bash", input: { command } } };
  });
}

async function start(server: ServeProcess, number: number): Promise<string> {
  const wish = { skill: "copy", message: `ORDER ${number}`, approve: "ask" };
  return String((await server.call("POST", "/v1/runs", wish)).body.id);
}

/** What these runs ask for is allowed. */
async function answer(server: ServeProcess, ids: readonly string[]): Promise<void> {
  const { body } = await server.call("GET", "/v1/approvals?status=pending&limit=100");
  for (const approval of body.data ?? []) {
    if (!ids.includes(String(approval.run))) continue;
    const { status } = await server.call("POST", `/v1/approvals/${approval.id}`, { decision: "approve" });
    expect(status).toBe(200);
  }
}

async function untilAsked(server: ServeProcess, tool: string, count: number): Promise<void> {
  const asked = async () => {
    const { body } = await server.call("GET", "/v1/approvals?status=pending&limit=100");
    return body.data?.filter((approval) => approval.tool === tool).length;
  };
  await expect.poll(asked).toBe(count);
}

function runTool(name: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(join(findPostgres() ?? "", name), args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
}

describeSandbox("a backup of a service", () => {
  describeWithPostgres("on Postgres", () => {
    test("restored into an empty database, loses no run: those that waited are answered and go on", {
      timeout: 240_000,
    }, async () => {
      const provider = await startModel();
      const skills = { copy: [] } as const;
      const machines = await createMachines(skills, provider);
      const server = await machines.serve("server");
      const worker = await machines.work("one");
      const ids: string[] = [];
      for (let number = 0; number <= WAITING; number += 1) ids.push(await start(server, number));
      await untilAsked(server, "write_file", ids.length);
      await answer(server, ids);
      await untilAsked(server, "bash", ids.length);
      const [ended = "", ...waiting] = ids;
      await answer(server, [ended]);
      await server.settle(ended, "completed", "failed");

      const dump = join(temporaryFolder(), "dump");
      const objects = temporaryFolder();
      // The database first: what it names is in the object store by then.
      runTool("pg_dump", "--format=custom", `--file=${dump}`, `--dbname=${machines.database.superUrl}`);
      cpSync(machines.objectFolder, objects, { recursive: true });
      await Promise.all([server.kill(), worker.kill()]);

      const restored = await newSharedPlaces(objects);
      runTool("pg_restore", `--dbname=${restored.database.superUrl}`, "--exit-on-error", dump);
      const others = await createMachines(skills, provider, restored);
      const again = await others.serve("server");
      await others.work("other");
      await answer(again, waiting);
      for (const [number, id] of ids.entries()) {
        const { status, text } = await again.settle(id, "completed", "failed");
        const file = await again.call("GET", `/v1/runs/${id}/files/b.txt`);
        expect([status, text, file.text]).toEqual(["completed", `Order ${number} is done.`, String(number)]);
        const { text: events } = await again.call("GET", `/v1/runs/${id}/events?as=list`);
        expect(events.match(/"type":"tool-finished"/g)).toHaveLength(2);
      }
    });
  });
});
