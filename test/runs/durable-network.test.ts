/** What a durable run reaches by its processes: remembered after another process took it up, and never done again unasked. */
import type { JournalStore } from "@metier/durable";
import { expect, test } from "vitest";
import { createLedger, readLedger } from "../durability/ledger-provider.ts";
import {
  type Durable,
  journaledEvents,
  onlyQuestion,
  openDurable,
  workAs,
  workUntil,
} from "../support/durable-runs.ts";
import { PUBLIC, type Site, startSite } from "../support/loopback-site.ts";
import { pretendPublic } from "../support/public-sites.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, createRunWorld, eventsOf, says } from "../support/scripted-runs.ts";
import type { World } from "../support/world.ts";

const CALLER = { userId: "ada", chatId: "42", chatType: "private" } as const;

interface Reaching {
  readonly world: World;
  readonly site: Site;
  /** Prints the page, by a command in the sandbox. */
  readonly fetchPage: string;
}

async function openSite(): Promise<Reaching> {
  pretendPublic({ "site.test": [PUBLIC] });
  const site = await startSite((_, response) => response.end("a page"));
  const host = `site.test:${site.port}`;
  const world = createRunWorld({
    fetcher: [`capabilities: [ledger.book]\nallowed-tools: Bash\nsandbox: { network: ["${host}"] }`],
  });
  world.write({ "home/.metier/config.toml": `[sandbox]\nnetwork = ["${host}"]\n` });
  const ask = `{ host: "127.0.0.1", port: new URL(process.env.HTTP_PROXY).port, path: "http://${host}/" }`;
  return { world, site, fetchPage: `node -e 'require("http").get(${ask}, (r) => r.pipe(process.stdout))'` };
}

function open({ world }: Reaching, durable: Durable, journal?: JournalStore) {
  const capabilities = { providers: [createLedger(world.root)] };
  return durable.open({ capabilities, ...(journal && { journal }) });
}

const ADD = `metier-sb capability invoke -c ledger.book -o add -i '{"text": "a"}'`;

describeSandbox("a durable run that reaches a host", () => {
  test("names it in its result, also when another process ends it", async () => {
    const reaching = await openSite();
    const durable = openDurable(reaching.world, [bash(reaching.fetchPage), bash(ADD), says("Done.")]);
    const first = await open(reaching, durable);
    const runId = await first.durable.start({ skill: "fetcher", message: "Do it.", caller: CALLER });
    await workUntil(first, runId, "waiting");
    const { id } = await onlyQuestion(first);
    await first.durable.answer(id, { status: "denied", by: "bob" });
    const run = await workUntil(await open(reaching, durable), runId, "completed", "failed");
    expect(run.result).toMatchObject({ sandbox: { used: { network: ["site.test"] } } });
    const events = await journaledEvents(durable, runId);
    expect(eventsOf(events, "run-finished")).toMatchObject([
      { sandbox: { used: { network: ["site.test"] } } },
    ]);
    expect(reaching.site.requests).toHaveLength(1);
  });

  test("names it in its result, and what it used, when it could not go on", async () => {
    const reaching = await openSite();
    const durable = openDurable(reaching.world, [
      bash(`metier-sb capability invoke -c ledger.book -o read; ${reaching.fetchPage}`),
      bash(ADD),
    ]);
    const metier = await open(reaching, durable);
    const runId = await metier.durable.start({ skill: "fetcher", message: "Do it.", caller: CALLER });
    await workUntil(metier, runId, "waiting");
    const { id } = await onlyQuestion(metier);
    reaching.world.write({ "home/.metier/skills/fetcher/more.txt": "changed" });
    await metier.durable.answer(id, { status: "approved", by: "bob" });
    const run = await workUntil(await open(reaching, durable), runId, "completed", "failed");
    const used = {
      sandbox: { used: { network: ["site.test"] } },
      capabilities: [{ capability: "ledger.book", operation: "read", calls: 1, failed: 0 }],
    };
    expect(run.result).toMatchObject({ error: { code: "run.changed" }, ...used });
    const events = await journaledEvents(durable, runId);
    expect(eventsOf(events, "run-finished")).toMatchObject([used]);
    expect(readLedger(reaching.world.root)).toEqual([]);
  });

  test("in a call that then asks for a change cannot wait in it, and says how it can", async () => {
    const reaching = await openSite();
    const durable = openDurable(reaching.world, [
      bash(`${reaching.fetchPage}; ${ADD}`),
      bash(ADD, { toolResult: "in a separate tool call" }),
      says("Done."),
    ]);
    const metier = await open(reaching, durable);
    const runId = await metier.durable.start({ skill: "fetcher", message: "Do it.", caller: CALLER });
    await workUntil(metier, runId, "waiting");
    const { id } = await onlyQuestion(metier);
    await metier.durable.answer(id, { status: "approved", by: "bob" });
    await workUntil(metier, runId, "completed", "failed");
    expect(readLedger(reaching.world.root)).toEqual(["add a"]);
    expect(reaching.site.requests).toHaveLength(1);
  });

  test("and whose answer could not be recorded is not made again", async () => {
    const reaching = await openSite();
    const durable = openDurable(reaching.world, [bash(reaching.fetchPage), says("Done.")]);
    const { journal: sound } = durable.store;
    let hasFailed = false;
    const write: JournalStore["write"] = async (lease, batch) => {
      const isResult = batch.entries?.some(({ key }) => key.startsWith("result ")) ?? false;
      if (!isResult || hasFailed) return sound.write(lease, batch);
      hasFailed = true;
      throw new Error("The disk is full.");
    };
    const metier = await open(reaching, durable, { ...sound, write });
    const runId = await metier.durable.start({ skill: "fetcher", message: "Do it.", caller: CALLER });
    await workAs({ onFault: () => undefined }, metier, runId, "completed", "failed");
    const events = await journaledEvents(durable, runId);
    expect(eventsOf(events, "tool-finished")).toMatchObject([
      { isError: true, text: expect.stringContaining("is unknown") },
    ]);
    expect(reaching.site.requests).toHaveLength(1);
  });
});
