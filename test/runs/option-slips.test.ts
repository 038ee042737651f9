/**
 * Every call of the API reports that takes options refuses a key that it does not have. A public call that is neither tried
 * here nor named as one that takes something else fails the last test.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openShared } from "@metier/durable/local";
import { checkCompatibility, packPlugin, publishSkills } from "@metier/install/publish";
import { defineTool, wrapResult } from "@metier/run";
import {
  Agent,
  AgentSkillsSection,
  createMetier,
  createScriptedModel,
  type Metier,
  type MetierView,
  SkillContextProvider,
  SkillExecutor,
  SkillInstaller,
  SkillManager,
  SkillRegistry,
} from "@metier/runtime";
import {
  aiSdkSkills,
  claudeSkills,
  langChainSkills,
  mastraSkills,
  mountClaudeSkills,
  openAiAgentSkills,
  openAiChatSkills,
  openAiResponsesSkills,
  plainSkills,
} from "@metier/runtime/adapters";
import { createMcpServer } from "@metier/runtime/mcp";
import { createSkillHarness, runSkillTests, SkillTestHarness } from "@metier/runtime/testing";
import { defineSkill, mountSkills, wrapInstructions } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ROOT } from "../support/repository.ts";
import { createRunWorld, openRuns } from "../support/scripted-runs.ts";
import type { World } from "../support/world.ts";

/** As `never`, so that the compiler lets it pass, as JavaScript would. */
const SLIP = { slipped: true } as never;
const GIVEN = { name: "given", description: "Give. Use to give.", instructions: "Give." };
const CALLER = { caller: { userId: "ann", slipped: true } } as never;

interface Scene {
  readonly metier: Metier;
  readonly view: MetierView;
  readonly world: World;
  readonly home: { readonly home: string; readonly cwd: string };
}
type Slip = (scene: Scene) => unknown;

const skill = (more: object): never => ({ skill: "build", ...more }) as never;
const slipped = (fields: object): never => ({ ...fields, slipped: true }) as never;
const run = ({ metier }: Scene) => metier.start({ skill: "nowhere" });
const section = ({ metier }: Scene) => AgentSkillsSection.create({ skills: metier.catalog });
const harness = ({ world }: Scene) =>
  new SkillTestHarness({ skillPath: join(world.home, ".metier/skills/build") });

/** By the name in the API report; `: …` behind it tells two ways to slip apart. */
const SLIPS: Readonly<Record<string, Slip>> = {
  createMetier: () => createMetier(SLIP),
  openShared: () => openShared(SLIP),
  "createMetier: runs": ({ home }) => createMetier({ ...home, runs: SLIP }),
  "createMetier: capabilities": ({ home }) => createMetier({ ...home, capabilities: SLIP }),
  "createMetier: agents": ({ home }) =>
    createMetier({ ...home, agents: [slipped({ name: "a", systemPrompt: "A." })] }),
  "Metier.for": ({ metier }) => metier.for(slipped({ userId: "ann" })),
  "Metier.for: chat": ({ metier }) => metier.for({ userId: "ann", chat: SLIP }),
  "Metier.for: limits": ({ metier }) => metier.for({ userId: "ann", limits: SLIP }),
  "Catalog.list": ({ metier }) => metier.catalog.list(SLIP),
  "Catalog.names": ({ metier }) => metier.catalog.names(SLIP),
  "Disclosure.renderListing": ({ view }) => view.renderListing(SLIP),
  "Disclosure.planListing": ({ view }) => view.planListing(SLIP),
  "Disclosure.find": ({ view }) => view.find("build", 1, SLIP),
  "Disclosure.getInstructions": ({ view }) => view.getInstructions("build", SLIP),
  "Disclosure.readResource": ({ view }) => view.readResource("build", "SKILL.md", SLIP),
  "Disclosure.skillTools": ({ metier }) => metier.skillTools(SLIP),
  "Disclosure.skillTools: of a view": ({ view }) => view.skillTools(SLIP),
  "Running.run": ({ view }) => view.run(skill(SLIP)),
  "Running.start": ({ view }) => view.start(skill(SLIP)),
  "Running.invoke": ({ view }) => view.invoke(skill(SLIP)),
  "Running.activate": ({ view }) => view.activate(skill({}), SLIP),
  "Running.prepare": ({ view }) => view.prepare(skill(SLIP)),
  "Running.plan": ({ view }) => view.plan(skill(SLIP)),
  "Running.script": ({ view }) => view.script(skill({ script: "a.sh", slipped: true })),
  "Running.chat": ({ view }) => view.chat(SLIP),
  "Running.offerSkills": ({ view }) => view.offerSkills(SLIP),
  "Running.useSkillTool": ({ view }) => view.useSkillTool(SLIP),
  "Running.skillLibrary": ({ metier }) => metier.skillLibrary(SLIP),
  "Running.store": ({ metier }) => metier.store("build", SLIP),
  "Running.setUp": ({ metier }) => metier.setUp("build", SLIP),
  "Chat.send": async ({ metier }) => (await metier.chat()).send("Hi.", SLIP),
  "Chat.stream": async ({ metier }) => (await metier.chat()).stream("Hi.", SLIP),
  "Chat.compact": async ({ metier }) => (await metier.chat()).compact(SLIP),
  "Chat.branch": async ({ metier }) => (await metier.chat()).branch(SLIP),
  "RunStreams.clientEvents": (scene) => run(scene).clientEvents(SLIP),
  "RunStreams.toResponse": (scene) => run(scene).toResponse(SLIP),
  "RunStreams.toUIMessageStream": (scene) => run(scene).toUIMessageStream(SLIP),
  "RunStreams.toUIMessageStreamResponse": (scene) => run(scene).toUIMessageStreamResponse(SLIP),
  "Runs.list": ({ view }) => view.runs.list(SLIP),
  "Runs.get": ({ view }) => view.runs.get("x", SLIP),
  "Runs.delete": ({ view }) => view.runs.delete(slipped({ runId: "x" })),
  "Remote.refresh": ({ metier }) => metier.remote.refresh([], SLIP),
  "Installing.install": ({ metier }) => metier.install(slipped({ source: "./x" })),
  "Installing.install: decisions": ({ metier }) => metier.install({ source: "./x" }, SLIP),
  "Installing.remove": ({ metier }) => metier.remove("build", SLIP),
  "Installing.outdated": ({ metier }) => metier.outdated(SLIP),
  "Installing.update": ({ metier }) => metier.update(SLIP),
  "Installing.update: decisions": ({ metier }) => metier.update({}, SLIP),
  "Installing.rollback": ({ metier }) => metier.rollback("build", SLIP),
  "Installing.verify": ({ metier }) => metier.verify(SLIP),
  "Capabilities.list": ({ metier }) => metier.capabilities.list({ userId: "ann" }, SLIP),
  "Capabilities.list: caller": ({ metier }) => metier.capabilities.list(SLIP),
  "Capabilities.forget": ({ metier }) => metier.capabilities.forget(SLIP),
  "Capabilities.invoke": ({ metier }) => metier.capabilities.invoke(SLIP),
  "Capabilities.invoke: options": ({ metier }) => metier.capabilities.invoke({} as never, SLIP),
  "Capabilities.invoke: caller": ({ metier }) => metier.capabilities.invoke({} as never, CALLER),
  "Authorizing.begin": ({ metier }) => metier.capabilities.auth.begin(SLIP),
  "Authorizing.begin: options": ({ metier }) => metier.capabilities.auth.begin({} as never, SLIP),
  "Authorizing.begin: caller": ({ metier }) => metier.capabilities.auth.begin({} as never, CALLER),
  "Authorizing.list": ({ metier }) => metier.capabilities.auth.list(SLIP),
  "Authorizing.complete": ({ metier }) => metier.capabilities.auth.complete(SLIP),
  "Authorizing.completeCallback": ({ metier }) => metier.capabilities.auth.completeCallback("x", SLIP),
  "Authorizing.poll": ({ metier }) => metier.capabilities.auth.poll("x", SLIP),
  "Authorizing.unlink": ({ metier }) => metier.capabilities.auth.unlink(SLIP),
  "ViewCapabilities.list": ({ view }) => view.capabilities.list(SLIP),
  "ViewCapabilities.invoke": ({ view }) => view.capabilities.invoke(SLIP),
  "ViewAuthorizing.begin": ({ view }) => view.capabilities.auth.begin(SLIP),
  "ViewAuthorizing.list": ({ view }) => view.capabilities.auth.list(SLIP),
  "ViewAuthorizing.complete": ({ view }) => view.capabilities.auth.complete(SLIP),
  "ViewAuthorizing.unlink": ({ view }) => view.capabilities.auth.unlink(SLIP),
  defineTool: () =>
    defineTool(slipped({ name: "a", description: "A.", input: {}, effect: "read", execute: () => 1 })),
  defineSkill: () => defineSkill(slipped(GIVEN)),
  wrapResult: async ({ metier }) => wrapResult(await metier.run({ skill: "nowhere" }), SLIP),
  wrapInstructions: () => wrapInstructions({ name: "a", text: "A.", digest: "a" }, SLIP),
  mountSkills: ({ metier, world }) =>
    mountSkills(metier.list(), slipped({ workspace: world.project, target: "skills" })),
  "mountSkills: limits": ({ metier, world }) =>
    mountSkills(metier.list(), { workspace: world.project, target: "skills", limits: SLIP }),
  plainSkills: ({ view }) => plainSkills(view, SLIP),
  "PlainSkills.call": async ({ view }) => (await plainSkills(view)).call("use_skill", {}, SLIP),
  "SkillOffer.call": async ({ view }) => (await view.offerSkills()).call("use_skill", {}, SLIP),
  aiSdkSkills: ({ view }) => aiSdkSkills(view, SLIP),
  claudeSkills: ({ view }) => claudeSkills(view, slipped({ z })),
  mountClaudeSkills: ({ metier, world }) => mountClaudeSkills(metier, slipped({ workspace: world.project })),
  "mountClaudeSkills: caller": ({ metier, world }) =>
    mountClaudeSkills(metier, { workspace: world.project, caller: SLIP }),
  langChainSkills: ({ view }) => langChainSkills(view, slipped({ tool: () => ({}) })),
  mastraSkills: ({ view }) => mastraSkills(view, SLIP),
  openAiAgentSkills: ({ view }) => openAiAgentSkills(view, SLIP),
  openAiChatSkills: ({ view }) => openAiChatSkills(view, SLIP),
  openAiResponsesSkills: ({ view }) => openAiResponsesSkills(view, SLIP),
  "OpenAiChatSkills.answer": async ({ view }) => (await openAiChatSkills(view)).answer({}, SLIP),
  "OpenAiResponsesSkills.answer": async ({ view }) => (await openAiResponsesSkills(view)).answer([], SLIP),
  createMcpServer: ({ metier }) => createMcpServer(metier, SLIP),
  "createMcpServer: run": ({ metier }) => createMcpServer(metier, { run: SLIP }),
  "SkillServer.httpHandler": ({ metier }) => createMcpServer(metier).httpHandler(SLIP),
  "SkillServer.listen": ({ metier }) => createMcpServer(metier).listen(SLIP),
  checkCompatibility: ({ metier }) => checkCompatibility(metier, ["build"], SLIP),
  packPlugin: ({ metier }) => packPlugin(metier, slipped({ output: "x.tar.gz" })),
  publishSkills: ({ metier }) => publishSkills(metier, slipped({ folder: "site" })),
  runSkillTests: () => runSkillTests([], SLIP),
  createSkillHarness: () => createSkillHarness(slipped({ skill: GIVEN })),
  "SkillTestHarness.constructor": () => new SkillTestHarness(slipped({ skill: GIVEN })),
  "SkillTestHarness.prepare": (scene) => harness(scene).prepare(SLIP),
  "SkillTestHarness.run": (scene) => harness(scene).run(slipped({ script: [] })),
  "Agent.create": ({ home }) => Agent.create(slipped(home)),
  "Agent.create: settings": ({ home }) => Agent.create({ ...home, settings: SLIP }),
  "Agent.registerSkill": async ({ home }) => (await Agent.create(home)).registerSkill(GIVEN, SLIP),
  "Agent.run": async ({ home }) => (await Agent.create(home)).run("Hi.", SLIP),
  "SkillManager.create": ({ home }) => SkillManager.create(slipped(home)),
  "SkillManager.register": async ({ home }) => (await SkillManager.create(home)).register(GIVEN, SLIP),
  "SkillInstaller.create": ({ home }) => SkillInstaller.create(slipped(home)),
  "SkillInstaller.create: decisions": ({ home }) => SkillInstaller.create({ ...home, decisions: SLIP }),
  "SkillInstaller.install": async ({ home }) =>
    (await SkillInstaller.create(home)).install(slipped({ url: "x" })),
  "SkillRegistry.constructor": ({ world }) => new SkillRegistry(SLIP).discover(world.project),
  "SkillExecutor.constructor": () => new SkillExecutor(new SkillRegistry(), [], SLIP),
  "SkillExecutor.execute": () => new SkillExecutor(new SkillRegistry()).execute("build", {}, SLIP),
  "SkillContextProvider.constructor": ({ metier }) => new SkillContextProvider(metier, SLIP),
  "SkillContextProvider.getTier2Context": ({ metier }) =>
    new SkillContextProvider(metier).getTier2Context("build", SLIP),
  "DurableRuns.start": ({ metier }) => metier.durable.start({ skill: "build" }, SLIP),
  "DurableRuns.send": ({ metier }) => metier.durable.send({ message: "Hi." }, SLIP),
  "DurableRuns.send: order": ({ metier }) => metier.durable.send(slipped({ message: "Hi." })),
  "DurableRuns.work": ({ metier }) => metier.durable.work(SLIP),
  "DurableRuns.advance": ({ metier }) => metier.durable.advance(LEASE, SLIP),
  "AgentSkillsSection.create": ({ metier }) => AgentSkillsSection.create(slipped({ skills: metier.catalog })),
  "AgentSkillsSection.clone": async (scene) => (await section(scene)).clone(SLIP),
  "AgentSkillsSection.renderBody": async (scene) => (await section(scene)).renderBody({}, SLIP),
};

const LEASE = {
  runId: "",
  holder: "",
  term: 1,
  lost: new AbortController().signal,
  stopping: new AbortController().signal,
};

/** What looks like a call with options in the API reports and is none. */
const OTHERS: Readonly<Record<string, string>> = {
  "Tool.execute": "Metier calls it",
  "PlainGivenTool.execute": "Metier calls it",
  "GivenModel.doGenerate": "Metier calls it",
  "GivenModel.doStream": "Metier calls it",
  "ScriptedModel.doGenerate": "Metier or the AI SDK calls it, with what is its own",
  "ScriptedModel.doStream": "Metier or the AI SDK calls it, with what is its own",
  "CapabilityProvider.invoke": "Metier calls it",
  "SkillSource.list": "Metier calls it",
  "SkillSource.read": "Metier calls it",
  "JournalStore.list": "Metier calls it",
  "JournalStore.questions": "Metier calls it",
  "JournalStore.usage": "Metier calls it",
  "RunEngine.enqueue": "Metier calls it",
  "RunEngine.work": "Metier calls it",
  "AiSdkTool.execute": "the AI SDK calls it, with what is its own",
  "ConversationTool.execute": "a host's loop calls it, with what is its own",
  "LangChainMiddleware.wrapModelCall": "LangChain.js calls it, with what is its own",
  "LangChainMiddleware.wrapToolCall": "LangChain.js calls it, with what is its own",
  "LangChainTool.invoke": "LangChain.js calls it, with what is its own",
  "OpenAiAgentTool.invoke": "the Agents SDK calls it, with what is its own",
  "McpHttpHandler.handle": "takes a request of `node:http`",
  "SkillMatchers.toBeUsable": "hands its request to `SkillTestHarness.prepare`",
  "SkillMatchers.toRefuse": "hands its request to `SkillTestHarness.prepare`",
  defineToolset: "a skill's own code, in the sandbox",
};

describe("a key that a call does not have", () => {
  test.each(Object.entries(SLIPS))("is refused by `%s`", async (_name, call) => {
    const world = createRunWorld({ build: [] });
    const { metier } = await openRuns(world, []);
    const home = { home: world.home, cwd: world.project };
    const scene = { metier, view: metier.for({ userId: "ann" }), world, home };
    const fault = await (async () => call(scene))().catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "option.unknown", message: expect.stringContaining("`slipped`") });
  });

  test("is tried for every call of the API reports that takes options", () => {
    const tried = new Set(Object.keys(SLIPS).map((name) => name.split(":", 1)[0]));
    const calls = callsWithOptions();
    expect(calls.length).toBeGreaterThan(90);
    expect(calls.filter((name) => !tried.has(name) && !Object.hasOwn(OTHERS, name))).toEqual([]);
    expect(Object.keys(OTHERS).filter((name) => !calls.includes(name))).toEqual([]);
  });
});

const OPTIONS =
  /[(,] ?(?:options|request|init|filter|config|context|decisions|owner|which|call|caller|changes|definition|skill|toolset|\{[^}]*\})\??: (?!string\b|readonly|\()/;

/** `function`, or `Owner.method`, of every report. */
function callsWithOptions(): readonly string[] {
  const folder = join(ROOT, "test/pins/api");
  const found = readdirSync(folder).flatMap((file) => {
    let owner = "";
    return readFileSync(join(folder, file), "utf8")
      .split("\n")
      .flatMap((line) => {
        owner = /^export (?:declare )?\w+ (\w+)/.exec(line)?.[1] ?? owner;
        const [, own] = /^export declare function (\w+)/.exec(line) ?? [];
        const [, method] = /^\s+(?:static )?(\w+)(?:<[^(]*>)?\(/.exec(line) ?? [];
        const name = own ?? (method && `${owner}.${method}`);
        return name !== undefined && OPTIONS.test(line.slice(line.indexOf("("))) ? [name] : [];
      });
  });
  return [...new Set(found)].sort();
}

test("a scripted model refuses a turn with a key that no turn has", () => {
  expect(() => createScriptedModel([slipped({ answer: { text: "A." } })])).toThrow(/`slipped`/);
});
