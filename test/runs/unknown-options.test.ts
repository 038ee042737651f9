/** A key that no option has is thrown by every public call, with the nearest name, before anything is done. */

import { createScriptedModel, type Metier } from "@metier/runtime";
import { aiSdkSkills, openAiChatSkills, plainSkills } from "@metier/runtime/adapters";
import { createMcpServer } from "@metier/runtime/mcp";
import { describe, expect, test } from "vitest";
import { createRunWorld, openRuns, says } from "../support/scripted-runs.ts";

type Call = (metier: Metier) => unknown;

const CALLS: Readonly<Record<string, readonly [call: Call, unknown: string, hint: string | RegExp]>> = {
  run: [(m) => m.run({ skill: "build", mesage: "x" } as never), "mesage", "Did you mean `message`?"],
  start: [(m) => m.start({ skill: "build", onevents: 1 } as never), "onevents", "Did you mean `onEvent`?"],
  invoke: [(m) => m.invoke({ skill: "build", skil: 1 } as never), "skil", "Did you mean `skill`?"],
  activate: [
    (m) => m.activate({ skill: "build" }, { canrun: true } as never),
    "canrun",
    "Did you mean `canRun`?",
  ],
  prepare: [
    (m) => m.prepare({ skill: "build", argument: "x" } as never),
    "argument",
    "Did you mean `arguments`?",
  ],
  plan: [(m) => m.plan({ skill: "build", models: "x" } as never), "models", "Did you mean `model`?"],
  script: [
    (m) => m.script({ skill: "build", script: "a.sh", arg: [] } as never),
    "arg",
    "Did you mean `args`?",
  ],
  "run({ limits })": [
    (m) => m.run({ skill: "build", limits: { maxIteration: 3 } } as never),
    "maxIteration",
    "Did you mean `maxIterations`?",
  ],
  "run({ caller })": [
    (m) => m.run({ skill: "build", caller: { userID: "ann", user: 1 } } as never),
    "userID",
    "Did you mean `userId`?",
  ],
  chat: [(m) => m.chat({ resumes: "last" } as never), "resumes", "Did you mean `resume`?"],
  "chat({ limits })": [
    (m) => m.chat({ limits: { maxConversationToken: 3 } } as never),
    "maxConversationToken",
    "Did you mean `maxConversationTokens`?",
  ],
  "chat.send": [async (m) => (await m.chat()).send("Hi.", { abort: 1 } as never), "abort", /^Use `signal`/],
  "chat.compact": [
    async (m) => (await m.chat()).compact({ signl: 1 } as never),
    "signl",
    "Did you mean `signal`?",
  ],
  offerSkills: [(m) => m.offerSkills({ preloads: [] } as never), "preloads", "Did you mean `preload`?"],
  "offerSkills({ budget })": [
    (m) => m.offerSkills({ budget: { maxToken: 1 } } as never),
    "maxToken",
    "Did you mean `maxTokens`?",
  ],
  "offer.call": [
    async (m) => (await m.offerSkills()).call("list_skills", {}, { abortSignal: 1 } as never),
    "abortSignal",
    /^Use `signal` and `userMessage`/,
  ],
  useSkillTool: [(m) => m.useSkillTool({ cancelRun: 1 } as never), "cancelRun", /^Did you mean|^It has/],
  skillTools: [(m) => m.skillTools({ budgets: 1 } as never), "budgets", "Did you mean `budget`?"],
  skillLibrary: [(m) => m.skillLibrary({ user: "ann" } as never), "user", "Did you mean `userId`?"],
  store: [(m) => m.store("build", { userId: "ann" } as never), "userId", "Did you mean `user`?"],
  setUp: [(m) => m.setUp("build", { bild: true } as never), "bild", "Did you mean `build`?"],
  list: [
    (m) => m.list({ includeDisable: true } as never),
    "includeDisable",
    "Did you mean `includeDisabled`?",
  ],
  names: [(m) => m.names({ scopes: "user" } as never), "scopes", "Did you mean `scope`?"],
  renderListing: [(m) => m.renderListing({ fromat: "xml" } as never), "fromat", "Did you mean `format`?"],
  planListing: [(m) => m.planListing({ budged: 1 } as never), "budged", "Did you mean `budget`?"],
  getInstructions: [
    (m) => m.getInstructions("build", { hole: true } as never),
    "hole",
    "Did you mean `whole`?",
  ],
  readResource: [
    (m) => m.readResource("build", "SKILL.md", { ass: 1 } as never),
    "ass",
    "Did you mean `as`?",
  ],
  scan: [(m) => m.scan([], { progress: 1 } as never), "progress", "Did you mean `onProgress`?"],
  install: [(m) => m.install({ source: "./x", dryrun: true } as never), "dryrun", "Did you mean `dryRun`?"],
  remove: [(m) => m.remove("build", { forced: true } as never), "forced", "Did you mean `force`?"],
  outdated: [(m) => m.outdated({ skill: [] } as never), "skill", "Did you mean `skills`?"],
  update: [(m) => m.update({ yess: true } as never), "yess", "Did you mean `yes`?"],
  rollback: [(m) => m.rollback("build", { projects: true } as never), "projects", "Did you mean `project`?"],
  verify: [(m) => m.verify({ skill: [] } as never), "skill", "Did you mean `skills`?"],
  "runs.list": [(m) => m.runs.list({ user: "ann" } as never), "user", "Did you mean `userId`?"],
  "runs.get": [(m) => m.runs.get("x", { user: "ann" } as never), "user", "Did you mean `userId`?"],
  "capabilities.invoke": [
    (m) => m.capabilities.invoke({ capability: "a.b", operations: "x" } as never),
    "operations",
    "Did you mean `operation`?",
  ],
  createMcpServer: [(m) => createMcpServer(m, { callers: {} } as never), "callers", "Did you mean `caller`?"],
  httpHandler: [
    (m) => createMcpServer(m).httpHandler({ tokens: "x" } as never),
    "tokens",
    "Did you mean `token`?",
  ],
  aiSdkSkills: [(m) => aiSdkSkills(m, { preloads: [] } as never), "preloads", "Did you mean `preload`?"],
  openAiChatSkills: [
    (m) => openAiChatSkills(m, { preloads: [] } as never),
    "preloads",
    "Did you mean `preload`?",
  ],
  plainSkills: [(m) => plainSkills(m, { preloads: [] } as never), "preloads", "Did you mean `preload`?"],
  createScriptedModel: [
    () => createScriptedModel([{ answer: { txt: "x" } }] as never),
    "txt",
    "Did you mean `text`?",
  ],
};

describe("an unknown option [L6]", () => {
  test.each(Object.entries(CALLS))(
    "of `%s` throws `option.unknown`",
    async (_name, [call, unknown, hint]) => {
      const world = createRunWorld({ build: [] });
      const { metier } = await openRuns(world, []);
      const fault = await (async () => call(metier))().catch((error: unknown) => error);
      expect(fault).toMatchObject({
        code: "option.unknown",
        message: expect.stringContaining(`has no option \`${unknown}\``),
        hint: typeof hint === "string" ? hint : expect.stringMatching(hint),
      });
    },
  );

  test("a promise rejects, and only `start` and what answers at once throw", async () => {
    const { metier } = await openRuns(createRunWorld({ build: [] }), []);
    const run = metier.run({ skill: "build", mesage: "x" } as never);
    await expect(run).rejects.toMatchObject({ code: "option.unknown" });
    expect(() => metier.start({ skill: "build", mesage: "x" } as never)).toThrow(/has no option/);
  });

  test.each([undefined, null, "build", []])("a request %j is no request", async (request) => {
    const { metier } = await openRuns(createRunWorld({ build: [] }), []);
    await expect(metier.run(request as never)).rejects.toThrow("`run` takes its options as one object.");
  });

  test.each([
    [{}, "missing"],
    [{ skill: 7 }, "a number"],
  ])("a request %j names no skill", async (request, what) => {
    const { metier } = await openRuns(createRunWorld({ build: [] }), []);
    await expect(metier.run(request as never)).rejects.toThrow(
      `\`skill\` of \`run\` is ${what}; it must be a skill's name.`,
    );
  });

  test("an option that is `undefined` is not given", async () => {
    const { metier } = await openRuns(createRunWorld({ build: [] }), [says("Done.")]);
    const nothing = { caller: undefined, limits: undefined, signal: undefined, onEvent: undefined };
    expect(await metier.run({ skill: "build", ...nothing })).toMatchObject({ status: "completed" });
  });
});
