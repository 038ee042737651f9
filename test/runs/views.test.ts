/** A view for one user: what is theirs, and that nothing of it reaches another view. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { answer } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import { createScriptModel } from "@metier/run/model";
import { type MetierView, SkillManager } from "@metier/runtime";
import { plainSkills } from "@metier/runtime/adapters";
import { describe, expect, test } from "vitest";
import { createMemoProvider } from "../support/memo-provider.ts";
import { QUIET_PATH } from "../support/notes-bridge.ts";
import { describeSandbox, sandboxTest } from "../support/sandbox.ts";
import {
  bash,
  calls,
  createRunWorld,
  openRuns,
  programTool,
  says,
  useSkill,
} from "../support/scripted-runs.ts";
import { skill, type World } from "../support/world.ts";

const readNote = (path = "note.txt") => calls("read_file", { path });

/** A user's folder with a note in it, outside of the program's. */
function folderOf(world: World, user: string): string {
  world.write({ [`users/${user}/note.txt`]: `the note of ${user}` });
  return join(world.root, "users", user);
}

interface Told {
  readonly text: string;
  readonly results: string;
  readonly events: string;
  readonly diagnostics: readonly { readonly code: string; readonly message: string }[];
}

async function tell(
  { run }: Pick<MetierView, "run">,
  script: Parameters<typeof createScriptModel>[0],
  request: object = {},
): Promise<Told> {
  const events: RunEvent[] = [];
  const model = createScriptModel(script);
  const onEvent = (event: RunEvent): unknown => events.push(event);
  const asked = { skill: "work", message: "Go.", approve: "all", model, onEvent, ...request } as const;
  const { text, diagnostics } = await run(asked);
  model.assertDone();
  const ended = events.filter((event) => event.type === "tool-finished");
  return { text, diagnostics, results: JSON.stringify(ended), events: JSON.stringify(events) };
}

test("a view's `onlyTools` is all that its runs may call, and approves nothing", async () => {
  const world = createRunWorld({ work: ["allowed-tools: Bash Read"], free: [] });
  const metier = await world.metier();
  const write = async (name: string, onlyTools: readonly string[], approve?: "all"): Promise<string> => {
    const model = createScriptModel([calls("write_file", { path: "a", content: "b" }), says("Done.")]);
    const view = metier.for({ userId: "ada", onlyTools });
    const run = await view.run({ skill: name, message: "Go.", model, approve, write: true });
    return run.denied.map(({ reason }) => reason).join();
  };
  expect(await write("free", [], "all")).toBe("the run has no such tool");
  expect(await write("free", ["Read"], "all")).toBe("the run has no such tool");
  expect(await write("work", ["Write"], "all")).toBe("the run has no such tool");
  expect(await write("free", ["Write"])).not.toMatch(/^$|no such tool/);
  expect(await write("free", ["Write"], "all")).toBe("");
});

describe("[L3] the working directory of a run", () => {
  test("is none unless one is given: project skills are found, and the folder is out of reach", async () => {
    const world = createRunWorld({ work: [] });
    world.write({ "project/note.txt": "the program's own" });
    const before = process.cwd();
    const metier = await world.metier({ cwd: undefined as never });
    const planned = await metier.plan({ skill: "work", model: createScriptModel([]) });
    if (!planned.ok) throw new Error(JSON.stringify(planned.result));
    const { cwd, workDir, readable } = planned.outline.sandbox.world;
    expect(cwd).toBe(workDir);
    expect(readable.filter((path) => before.startsWith(path))).toEqual([]);
    const { results } = await tell(metier, [
      readNote(),
      readNote(join(world.project, "note.txt")),
      readNote(join(before, "package.json")),
      says("Done."),
    ]);
    expect(results).not.toContain("the program's own");
    expect(results).not.toContain("metier-workspace");
  });

  test("is that of `createMetier`, or that of the view", async () => {
    const world = createRunWorld({ work: [] });
    world.write({ "project/note.txt": "the program's own" });
    const metier = await world.metier();
    const ada = metier.for({ userId: "ada", cwd: folderOf(world, "ada") });
    const script = [readNote(), says("Done.")];
    expect((await tell(metier, script)).results).toContain("the program's own");
    expect((await tell(metier.for({ userId: "bob" }), script)).results).toContain("the program's own");
    const { results } = await tell(ada, [
      readNote(),
      readNote(join(world.project, "note.txt")),
      says("Done."),
    ]);
    expect(results).toContain("the note of ada");
    expect(results).not.toContain("the program's own");
  });

  test("is written to only where the view or the request says so; `write` without one is a diagnostic", async () => {
    const world = createRunWorld({ work: [] });
    const metier = await world.metier({ cwd: undefined as never });
    const cwd = folderOf(world, "ada");
    const write = (path: string) => [calls("write_file", { path, content: "new" }), says("Done.")];
    await tell(metier.for({ userId: "ada", cwd }), write(join(cwd, "a.txt")));
    await tell(metier.for({ userId: "ada", cwd, write: true }), write(join(cwd, "b.txt")));
    expect(readdirSync(cwd).sort()).toEqual(["b.txt", "note.txt"]);
    const { diagnostics } = await tell(metier.for({ userId: "ada", write: true }), [says("Done.")]);
    expect(diagnostics).toMatchObject([{ code: "sandbox.path-not-writable" }]);
    expect(diagnostics[0]?.message).toContain("no working directory");
  });
});

test("[L3] a facade keeps the workspace of the system it comes from", async () => {
  const world = createRunWorld({ work: [] });
  const manager = await SkillManager.create({ home: world.home });
  await manager.register({ name: "given", description: "Is given.", instructions: "Do it." });
  const { metier } = manager;
  const planned = await metier.plan({ skill: "given", model: createScriptModel([]) });
  expect(planned.ok && planned.outline.sandbox.world.cwd).toBe(process.cwd());
});

sandboxTest("[L10] an environment without PATH finds the sandbox all the same", async () => {
  const world = createRunWorld({ work: [] });
  const metier = await world.metier({ environment: {} });
  const result = await metier.run({
    skill: "work",
    approve: "all",
    model: createScriptModel([bash("uname"), says("Done.")]),
  });
  expect(result.sandbox?.backend).toBe("bubblewrap");
  expect(result.diagnostics).toEqual([]);
});

describe("a view", () => {
  test("has the skills it may use and no others, by every way to them", async () => {
    const world = createRunWorld({
      work: [],
      "acme-pay": ["", "Pay the acme invoice."],
      "acme-plan": ["", "Plan for acme."],
      other: [],
    });
    const metier = await world.metier({ deny: ["other"], bundled: false });
    const acme = metier.for({ userId: "ada", allow: ["acme-*", "other"], deny: ["acme-plan"] });
    expect(acme.names()).toEqual(["acme-pay"]);
    expect(metier.names()).toEqual(["acme-pay", "acme-plan", "work"]);
    expect(metier.for({ userId: "ada", allow: [] }).names({ includeDisabled: true })).toEqual([]);
    expect(metier.for({ userId: "ada" }).names()).toEqual(metier.names());
    expect([acme.has("work"), acme.get("user:work")]).toEqual([false, undefined]);
    expect((await acme.find("plan pay acme")).map(({ name }) => name)).toEqual(["acme-pay"]);
    expect(acme.renderListing()).not.toContain("acme-plan");
    expect(acme.skillTools().instructions).not.toContain("acme-plan");
    expect((await acme.offerSkills()).instructions).not.toContain("work");
    expect((await plainSkills(acme)).messages[0]?.content).not.toContain("acme-plan");
    expect(() => acme.listResources("work")).toThrow("not found");
    await expect(acme.getInstructions("acme-plan")).rejects.toThrow("not found");
    const catalog = metier.catalog;
    const result = await acme.run({ skill: "work", model: createScriptModel([]) });
    expect(result).toMatchObject({ status: "refused", refusal: { reason: "not-found" } });
    expect(JSON.stringify(result.refusal)).not.toContain("acme-plan");
    expect(metier.catalog).toBe(catalog); // Nothing was looked for again.
  });

  test("follows a new snapshot", async () => {
    const world = createRunWorld({ work: [] });
    const metier = await world.metier();
    const view = metier.for({ userId: "ada", allow: ["w*"] });
    expect(view.names()).toEqual(["work"]);
    world.write({ "home/.metier/skills/word/SKILL.md": skill("word") });
    await metier.reload();
    expect(view.names()).toEqual(["word", "work"]);
  });

  test("may not act for another user", async () => {
    const world = createRunWorld({ work: [] });
    const metier = await world.metier();
    const ada = metier.for({ userId: "ada", tenantId: "acme" });
    const model = createScriptModel([says("Done.")]);
    await expect(ada.run({ skill: "work", model, caller: { userId: "bob" } })).rejects.toThrow(
      "for `tenant/acme/bob`",
    );
    await expect(ada.chat({ caller: { tenantId: "other" } })).rejects.toThrow("for `tenant/other/ada`");
    expect(() => ada.start({ skill: "work", caller: { isLocal: true } })).toThrow(
      "the person at this machine",
    );
    const same = { userId: "ada", tenantId: "acme", chatType: "private" };
    expect((await ada.run({ skill: "work", model, caller: same })).status).toBe("completed");
  });

  test("holds every run to its limits, and all of them to its total", async () => {
    const world = createRunWorld({ work: [] });
    const metier = await world.metier();
    const usage = { inputTokens: 40, outputTokens: 10 };
    const turn = { answer: { text: "Once more. ", toolCalls: [{ tool: "list_files", input: {} }], usage } };
    const limits = { maxIterations: 2, maxTotalTokens: 120 };
    const view = metier.for({ userId: "ada", limits });
    const run = (wish: object = {}) =>
      view.run({ skill: "work", limits: wish, model: createScriptModel([turn, turn, turn]) });
    expect(await run({ maxIterations: 50 })).toMatchObject({ status: "limited", limit: "iterations" });
    expect(view.budget.usage.totalTokens).toBe(100);
    expect(await run()).toMatchObject({ status: "limited", limit: "tokens", iterations: 1 });
    const other = metier.for({ userId: "ada", limits });
    expect(other.budget.usage.totalTokens).toBe(0);
    const chat = await view.chat({ model: createScriptModel([turn]) });
    expect(await chat.send("Hello?")).toMatchObject({ status: "limited" });
  });

  test("has models and tools of its own, and its tools are told who asks", async () => {
    const world = createRunWorld({ work: ["context: fork"], outer: ["context: fork"] });
    const asked: unknown[] = [];
    const tool = (name: string) =>
      programTool(name, async (_input, { caller }) => {
        asked.push([name, caller.userId, caller.tenantId, caller.chatType]);
        return answer(`${name} answers`);
      });
    const { metier } = await openRuns(world, [], { tools: [tool("shared")] });
    const view = (userId: string, nested: boolean) =>
      metier.for({
        userId,
        tenantId: "acme",
        chat: { chatType: "private" },
        approve: "all",
        tools: [tool(`own_${userId}`)],
        models: {
          default: createScriptModel([
            ...(nested ? [useSkill("work")] : []),
            calls(`own_${userId}`, {}),
            calls("shared", {}),
            says(`I am the model of ${userId}.`),
            ...(nested ? [says("The end.")] : []),
          ]),
        },
      });
    const [ada, bob] = [view("ada", false), view("bob", true)];
    expect((await ada.run({ skill: "work" })).text).toBe("I am the model of ada.");
    expect((await bob.run({ skill: "outer" })).text).toBe("The end.");
    expect(asked).toEqual(
      ["ada", "bob"].flatMap((user) => [
        [`own_${user}`, user, "acme", "private"],
        ["shared", user, "acme", "private"],
      ]),
    );
    expect(() => metier.for({ userId: "ada", tools: [tool("shared")] })).toThrow("Two tools are called");
  });

  test("keeps data, values and chats for its user: two tenants have two users of one name", async () => {
    const world = createRunWorld({ work: [] });
    const metier = await world.metier();
    const views = [
      metier.for({ userId: "ada" }),
      metier.for({ userId: "ada", tenantId: "acme" }),
      metier.for({ userId: "ada", tenantId: "other" }),
      metier.for({ userId: "acme/ada" }),
      metier.for({ userId: "tenant/acme/ada" }),
    ];
    for (const [index, view] of views.entries()) view.store("work").set("mine", index);
    expect(views.map((view) => view.store("work").get("mine"))).toEqual([0, 1, 2, 3, 4]);
    expect(metier.store("work", { user: "ada" }).get("mine")).toBe(0);
    expect(metier.store("work").all()).toEqual({});

    const [ada, acme] = views;
    const model = () => createScriptModel([says("Hello, Ada.")]);
    const chat = await ada?.chat({ model: model(), keep: true });
    await chat?.send("It is a secret between us.");
    const resume = chat?.id ?? "";
    await expect(acme?.chat({ model: model(), resume })).rejects.toThrow("There is no chat");
    await expect(acme?.chat({ model: model(), resume: "last" })).rejects.toThrow("no chat");
    await expect(metier.chat({ model: model(), resume })).rejects.toThrow("There is no chat");
    expect((await ada?.chat({ model: model(), resume: "last" }))?.resumed).toMatchObject({ turns: 1 });
  });

  test("lists, reads and deletes the runs of its user alone", async () => {
    const world = createRunWorld({ work: [] });
    const metier = await world.metier();
    const views = [
      metier.for({ userId: "ada" }),
      metier.for({ userId: "ada", tenantId: "acme" }),
      metier.for({ userId: "bob", tenantId: "acme" }),
    ];
    const model = () => createScriptModel([says("Done.")]);
    const ids: string[] = [];
    for (const view of views) ids.push((await view.run({ skill: "work", model: model() })).runId);
    for (const [index, { runs }] of views.entries()) {
      expect((await runs.list()).map(({ runId }) => runId)).toEqual([ids[index]]);
      const found = await Promise.all(ids.map(async (id) => (await runs.get(id)) !== undefined));
      expect(found).toEqual(ids.map((_, other) => other === index));
    }
    const [ada, acme] = views;
    expect(await ada?.runs.delete({ runId: ids[1] ?? "" })).toBe(0);
    expect(await acme?.runs.delete({ userId: "ada" })).toBe(1);
    expect((await metier.runs.list()).map(({ userId, tenantId }) => [userId, tenantId])).toEqual([
      ["bob", "acme"],
      ["ada", undefined],
    ]);
  });

  test("asks providers for its own user, and its own person before a change", async () => {
    const world = createRunWorld({ work: [] });
    const { provider, calls: heard } = createMemoProvider();
    const metier = await world.metier({
      environment: { PATH: QUIET_PATH },
      capabilities: { providers: [provider] },
    });
    const asked: string[] = [];
    const view = (userId: string, tenantId?: string) =>
      metier.for({
        userId,
        tenantId,
        chat: { chatType: "private" },
        confirm: () => {
          asked.push(userId);
          return "yes";
        },
      });
    const add = { capability: "memo.notes", operation: "add", input: { text: "tea" } };
    await view("ada").capabilities.invoke(add);
    await view("bob", "acme").capabilities.invoke(add);
    expect(heard.map(({ caller }) => caller.userId)).toEqual(["ada", "tenant/acme/bob"]);
    expect(asked).toEqual(["ada", "bob"]);
    const flows = await view("ada").capabilities.auth.list();
    expect(flows).toMatchObject({ ok: true, value: [] });
    await metier.capabilities.close();
  });

  test("costs little: ten thousand at once over one snapshot", async () => {
    const world = createRunWorld({ work: [], other: [] });
    const metier = await world.metier();
    const views = Array.from({ length: 10_000 }, (_, index) =>
      metier.for({
        userId: `u${index}`,
        allow: index % 2 === 0 ? ["work"] : ["w*"],
        env: { KEY: `k${index}` },
      }),
    );
    expect(new Set(views.map((view) => view.require("work"))).size).toBe(1);
    expect(views.every((view) => !view.has("other"))).toBe(true);
  });
});

describeSandbox("values of a view", () => {
  test("reach its own runs, nested ones too, and are told to nobody", async () => {
    const world = createRunWorld({
      work: ["env: [API_KEY]\ncontext: fork"],
      outer: ["context: fork"],
    });
    const metier = await world.metier();
    const key = (user: string) => `key-of-${user}-0123456789`;
    const view = (user: string) => metier.for({ userId: user, env: { API_KEY: key(user) } });
    const command = 'printf %s "$API_KEY" | sha256sum | cut -c1-16; echo "$API_KEY"';
    const seen = await Promise.all(
      ["ada", "bob"].map((user) =>
        tell(view(user), [useSkill("work"), bash(command), says("Read."), says("Done.")], { skill: "outer" }),
      ),
    );
    const digests = seen.map(({ results }) => /(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])/.exec(results)?.[0]);
    expect(new Set(digests).size, seen[0]?.results).toBe(2);
    for (const { events } of seen) expect(events).not.toMatch(/key-of-/);
    const without = await metier.for({ userId: "eve" }).run({ skill: "work", model: createScriptModel([]) });
    expect(without).toMatchObject({ status: "refused", refusal: { reason: "environment" } });
    expect(JSON.stringify(without)).not.toContain("key-of-");
  });

  test("are hidden in a chat, whoever says them", async () => {
    const world = createRunWorld({ work: [] });
    const metier = await world.metier();
    const view = metier.for({ userId: "ada", env: { API_KEY: "key-of-ada-0123456789" } });
    const chat = await view.chat({ model: createScriptModel([says("It is key-of-ada-0123456789.")]) });
    expect((await chat.send("Tell me.")).text).not.toContain("key-of-ada");
  });

  test("and files of commands in a skill's text are not those of another user", async () => {
    const world = createRunWorld({
      work: ["", 'Seen: !`ls "$METIER_WORK_DIR"; touch "$METIER_WORK_DIR/left-behind"`'],
    });
    const metier = await world.metier({ config: { skills: { "dynamic-context": true } } });
    const text = async (userId: string): Promise<string> => {
      const outcome = await metier.for({ userId, approve: "all" }).prepare({ skill: "work" });
      const real = await metier.for({ userId }).activate({ skill: "work" });
      if (real.kind !== "inline" || !outcome.ok) throw new Error(JSON.stringify(real));
      return real.text;
    };
    await text("ada");
    expect(await text("ada")).toContain("left-behind");
    expect(await text("bob")).not.toContain("left-behind");
  });
});
