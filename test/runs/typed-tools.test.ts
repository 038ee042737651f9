/** Tools of the embedding program in real runs: what they are told, what they may return, and who is asked about them. */
import { defineTool, type GivenTool, type ToolCallContext } from "@metier/run";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  calls,
  createRunWorld,
  eventsOf,
  openRuns,
  readLog,
  says,
  useSkill,
} from "../support/scripted-runs.ts";

const input = z.object({
  since: z.iso.date().transform((day) => new Date(day)),
  limit: z.number().default(5),
});

describe("[L5] a typed tool in a run", () => {
  test("knows who asks, in which run and for which skill, and gets the input as its schema reads it", async () => {
    const seen: { input: unknown; context: ToolCallContext }[] = [];
    const orders = defineTool({
      name: "find_orders",
      description: "Finds orders.",
      input,
      effect: "read",
      execute(given, context) {
        seen.push({ input: given, context });
        return [{ id: 1, total: 9n }];
      },
    });
    const world = createRunWorld({ shop: ["env: [SHOP_REGION]"], outer: [] });
    const script = [
      useSkill("shop"),
      calls("find_orders", { since: "2026-11-01" }),
      says("One order.", { toolResult: '[{"id":1,"total":"9"}]' }),
      says("Done."),
    ];
    const { run } = await openRuns(world, script, {
      tools: [orders],
      config: { skills: { shop: { SHOP_REGION: "ch-north" } } },
    });
    const caller = { userId: "ada", chatId: "7" };
    const { result, events } = await run({ skill: "outer", caller });
    expect(result).toMatchObject({ status: "completed", text: "Done." });
    const [call] = seen;
    expect(call?.input).toEqual({ since: new Date("2026-11-01"), limit: 5 });
    const inner = eventsOf(events, "run-started").find((event) => event.skill === "shop");
    expect(call?.context).toMatchObject({ caller, runId: inner?.runId, skill: "shop" });
    expect(call?.context.env.SHOP_REGION).toBe("ch-north");
    expect(call?.context.runId).not.toBe(result.runId);
    expect(call?.context.signal).toBeInstanceOf(AbortSignal);
    expect(Object.isFrozen(call?.context.caller)).toBe(true);
    // What is recorded is what the model wrote.
    expect(eventsOf(events, "tool-called").find(({ tool }) => tool === "find_orders")?.input).toEqual({
      since: "2026-11-01",
    });
  });

  test("is called for each user with that user, also at once", async () => {
    const seen: string[] = [];
    const whoami = defineTool({
      name: "whoami",
      description: "Says who asks.",
      input: z.object({}),
      effect: "read",
      async execute(_, { caller, runId }) {
        await new Promise((resume) => setImmediate(resume));
        seen.push(`${caller.userId} ${runId}`);
        return caller.userId;
      },
    });
    const world = createRunWorld({ echo: [] });
    const { createScriptModel } = await import("@metier/run/model");
    const metier = await world.metier({ tools: [whoami] });
    const users = Array.from({ length: 40 }, (_, index) => `user-${index}`);
    const results = await Promise.all(
      users.map((userId) =>
        metier.run({
          skill: "echo",
          caller: { userId },
          model: createScriptModel([calls("whoami", {}), says("ok", { toolResult: { equals: userId } })]),
        }),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(users.map(() => "completed"));
    expect(seen.toSorted()).toEqual(results.map(({ runId }, index) => `${users[index]} ${runId}`).toSorted());
  });

  test("is told the user of a view, whose results are typed as well", async () => {
    const seen: unknown[] = [];
    const whoami = defineTool({
      name: "whoami",
      description: "Says who asks.",
      input: z.object({}),
      effect: "read",
      execute: (_, { caller }) => void seen.push(caller.userId),
    });
    const script = [calls("whoami", {}), says('{"n":1}')];
    const { metier } = await openRuns(createRunWorld({ echo: [] }), script, { tools: [whoami] });
    const view = metier.for({ userId: "ada" });
    const result = await view.run({ skill: "echo", output: z.object({ n: z.number() }) });
    if (result.status !== "completed") throw new Error(result.error?.message);
    expect(result.object.n).toBe(1);
    expect(seen).toEqual(["ada"]);
  });

  test("is not called with what does not fit, and nobody is asked about that", async () => {
    let called = 0;
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: z.object({ amount: z.number().positive() }).refine(({ amount }) => amount < 100, "too much"),
      effect: "external",
      execute: () => {
        called += 1;
      },
    });
    const script = [
      calls("pay", { amount: "9" }),
      calls("pay", { amount: 500 }, { toolResult: { contains: ["Invalid input for `pay`: ", "amount"] } }),
      calls("pay", { amount: 5 }, { toolResult: "Invalid input for `pay`: too much" }),
      says("Paid.", { toolResult: "`pay` finished. It returned nothing." }),
    ];
    const { run } = await openRuns(createRunWorld({ shop: [] }), script, { tools: [pay] });
    const asked: unknown[] = [];
    const { result } = await run({
      skill: "shop",
      approve: (question) => {
        asked.push([question.tool, question.input]);
        return "yes";
      },
    });
    expect(result.status).toBe("completed");
    expect(called).toBe(1);
    expect(asked).toEqual([["pay", { amount: 5 }]]);
  });

  test("that only reads is allowed; one that writes or reaches out is asked about", async () => {
    const tool = (name: string, effect: "read" | "write" | "external"): GivenTool =>
      defineTool({ name, description: "x", input: z.object({}), effect, execute: () => name });
    const tools = [tool("look", "read"), tool("change", "write"), tool("call_out", "external")];
    const script = [
      calls("look", {}),
      calls("change", {}, { toolResult: { equals: "look" } }),
      calls("call_out", {}, { toolResult: "nobody to ask" }),
      says("Done.", { toolResult: "nobody to ask" }),
    ];
    const { run } = await openRuns(createRunWorld({ echo: [] }), script, { tools });
    const { result } = await run({ skill: "echo" });
    expect(result.denied.map((denied) => denied.tool)).toEqual(["change", "call_out"]);
    const allowed = createRunWorld({ echo: ["allowed-tools: [change, call_out]"] });
    const second = await openRuns(allowed, [calls("change", {}), says("Done.", { toolResult: "change" })], {
      tools,
    });
    expect((await second.run({ skill: "echo" })).result.denied).toEqual([]);
  });

  test("leaves notes in the run's events and its log, without secrets and bounded", async () => {
    const noisy = defineTool({
      name: "noisy",
      description: "x",
      input: z.object({}),
      effect: "read",
      execute(_, { log, env }) {
        log.info("read the table", { rows: 3, key: env.API_KEY, big: 1n });
        log.warn({ retry: 1 }, "slow");
        const circle: Record<string, unknown> = {};
        circle.self = circle;
        log.error("odd", circle);
        for (let index = 0; index < 2000; index++) log.debug("again");
        return "ok";
      },
    });
    const world = createRunWorld({ echo: ["env: [API_KEY]"] });
    const lines: unknown[] = [];
    const write =
      (level: string) =>
      (...line: readonly unknown[]) =>
        void lines.push([level, ...line]);
    const { run } = await openRuns(world, [calls("noisy", {}), says("Done.")], {
      tools: [noisy],
      logger: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
      config: { skills: { echo: { API_KEY: "s3cr3t-value-1234" } } },
    });
    const { result, events } = await run({ skill: "echo" });
    const notes = eventsOf(events, "tool-logged");
    expect(notes).toHaveLength(1000);
    expect(notes[0]).toMatchObject({ tool: "noisy", level: "info", message: "read the table", step: 1 });
    expect(notes[0]?.fields).toMatchObject({ rows: 3, big: "1" });
    expect(JSON.stringify(notes)).not.toContain("s3cr3t-value-1234");
    expect(notes[1]).toMatchObject({ level: "warn", message: "slow", fields: { retry: 1 } });
    expect(notes[2]).toMatchObject({ level: "error", fields: { self: "[circular]" } });
    expect(notes.at(-1)?.message).toContain("further notes of this run are left out");
    expect(JSON.stringify(lines)).toContain("read the table"); // The program's logger has them as well.
    expect(JSON.stringify(lines)).not.toContain("s3cr3t-value-1234");
    expect(eventsOf(readLog(world, result.runId), "tool-logged")).toHaveLength(1000);
  });
});

describe("[L7] a plain tool", () => {
  const plain = (execute: GivenTool["execute"]): GivenTool =>
    ({
      name: "plain",
      description: "x",
      inputSchema: { type: "object" },
      effect: "read",
      execute,
    }) as GivenTool;

  test.each<[string, () => unknown, string]>([
    ["a text", () => "just text", "just text"],
    ["nothing", () => undefined, "It returned nothing."],
    ["a value later", async () => ({ a: 1 }), '{"a":1}'],
    ["bytes", () => new TextEncoder().encode("bytes"), "bytes"],
    ["a stream", () => new Response("streamed").body, "streamed"],
    ["a fault that is no error", () => Promise.reject({ why: "x" }), '`plain` failed: {"why":"x"}'],
    [
      "a fault at once",
      () => {
        throw new Error("at once");
      },
      "`plain` failed: at once",
    ],
  ])("may give %s", async (_, execute, toolResult) => {
    const script = [calls("plain", {}), says("Done.", { toolResult })];
    const { run } = await openRuns(createRunWorld({ echo: [] }), script, { tools: [plain(execute)] });
    expect((await run({ skill: "echo" })).result.status).toBe("completed");
  });

  test("that gives an endless stream ends with the run", async () => {
    const world = createRunWorld({ echo: [] });
    async function* endless() {
      while (true) {
        yield "x";
        await new Promise((resume) => setTimeout(resume, 5));
      }
    }
    const { metier } = await openRuns(world, [calls("plain", {})], { tools: [plain(endless)] });
    const handle = metier.start({ skill: "echo" });
    for await (const event of handle.events()) if (event.type === "tool-called") handle.cancel();
    expect((await handle.result).status).toBe("cancelled");
  });
});
