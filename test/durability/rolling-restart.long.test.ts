/** All processes of a service are restarted one after the other while clients start runs: every run that was promised is done, once. */
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "../support/follow-events.ts";
import { createMachines } from "../support/machines.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { describeSandbox } from "../support/sandbox.ts";
import type { ServeProcess } from "../support/serve-process.ts";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";

const CLIENTS = 4;
const ROUNDS = 2;
/** Of each client; a slow machine is not given more than it gets done. */
const MOST_ORDERS = 30;

/** One call, which leaves the message of the run in its folder. */
async function startModel() {
  return startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    if (messages.some(({ role }) => role === "tool")) return { pieces: ["Done."] };
    const [, order = ""] = /ORDER (\d+-\d+)/.exec(body) ?? [];
    const command = `echo ${order} >> "$METIER_WORK_DIR/order.txt"; sleep 0.1`;
    return { pieces: [], call: { tool: "bash", input: { command } } };
  });
}

interface Order {
  readonly name: string;
  readonly id: string;
}

/** Asks until somebody answers, under a key: asked twice, it is one run. */
async function order(urls: () => readonly string[], name: string): Promise<Order> {
  for (let at = 0; ; at += 1) {
    const all = urls();
    try {
      const response = await fetch(`${all[at % all.length]}/v1/runs`, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_KEY}`, "Idempotency-Key": name },
        body: JSON.stringify({ skill: "note", message: `ORDER ${name}`, approve: "allow" }),
      });
      const body = (await response.json()) as { readonly id?: string };
      if (response.ok) return { name, id: String(body.id) };
      if (response.status < 500) throw new Error(`${response.status} ${JSON.stringify(body)}`);
    } catch (fault) {
      if (!(fault instanceof TypeError)) throw fault; // Nobody was there.
    }
    await wait(50);
  }
}

describeSandbox("a rolling restart of two servers and two workers under load", () => {
  describeWithPostgres("on Postgres", () => {
    test("loses no run and does none twice", { timeout: 600_000 }, async () => {
      const machines = await createMachines({ note: ["allowed-tools: Bash"] }, await startModel());
      const servers = [await machines.serve("server"), await machines.serve("other")];
      const workers = [await machines.work("one"), await machines.work("two")];
      const urls = (): readonly string[] => servers.map(({ url }) => url);
      let isOver = false;
      const clients = Array.from({ length: CLIENTS }, async (_, client) => {
        const orders: Order[] = [];
        while (!isOver && orders.length < MOST_ORDERS) {
          orders.push(await order(urls, `${client}-${orders.length}`));
          await wait(250);
        }
        return orders;
      });
      const codes: (number | null | undefined)[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [at, name] of ["server", "other"].entries()) {
          codes.push(await servers[at]?.terminate());
          servers[at] = await machines.serve(name);
        }
        for (const [at, name] of ["one", "two"].entries()) {
          codes.push(await workers[at]?.terminate());
          workers[at] = await machines.work(name);
        }
      }
      isOver = true;
      const orders = (await Promise.all(clients)).flat();
      process.stderr.write(`rolling restart: ${codes.length} processes, ${orders.length} runs\n`);
      expect(codes).toEqual(codes.map(() => 0));
      const [server] = servers;
      expect(await findWrong(orders, server)).toEqual([]);
      expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length);
      expect(await countRuns(server?.url ?? "")).toBe(orders.length);
    });
  });
});

/** Those that did not do what was ordered, or not just once. */
async function findWrong(
  orders: readonly Order[],
  server: ServeProcess | undefined,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { id, name } of orders) {
    const run = await server?.settle(id, "completed", "failed", "refused", "limited");
    const file = await server?.call("GET", `/v1/runs/${id}/files/order.txt`);
    const is = `${run?.status}: ${run?.text} ${file?.text}`;
    if (is !== `completed: Done. ${name}\n`) wrong.push(`${name} is ${is}`);
  }
  return wrong;
}

/** All that there are, page by page. */
async function countRuns(url: string): Promise<number> {
  let after = "";
  for (let count = 0; ; ) {
    const response = await fetch(`${url}/v1/runs?limit=200${after && `&after=${after}`}`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    const { data, next } = (await response.json()) as {
      readonly data: readonly unknown[];
      readonly next?: string;
    };
    count += data.length;
    if (next === undefined || data.length === 0) return count;
    after = encodeURIComponent(next);
  }
}
