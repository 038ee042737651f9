/** What is answered twice with the same text, and what is seen at once although it was answered before. */
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Metier } from "@metier/runtime";
import { createMcpServer, type McpServerOptions } from "@metier/runtime/mcp";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createRunWorld, openRuns, says } from "../../../../test/support/scripted-runs.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";

const NOTES = "home/.metier/skills/notes";

/** Stamps of files that were just written say nothing, so these have been there for a while. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
  onTestFinished(() => void vi.useRealTimers());
});

function notesWorld(more = "", body = "Read the notes."): World {
  const world = createWorld();
  world.write({
    [`${NOTES}/SKILL.md`]: skill("notes", more, body),
    [`${NOTES}/references/more.md`]: "More.",
  });
  mkdirSync(join(world.root, NOTES, "assets"));
  return world;
}

type Answer = { readonly id: unknown; readonly result?: unknown; readonly error?: unknown };
interface Asking {
  /** The answer to a request with this id, as text. */
  ask(method: string, params: object, id?: number | string): Promise<string>;
  /** How often a tool was called, or an entry was read, since the last time. */
  readonly calls: () => number;
}
type Open = (metier: Metier, options?: McpServerOptions) => Promise<Asking>;

const INFO = { name: "raw", version: "1" };

/** How often `use_skill` was made for a call, and instructions were read. */
function countCalls(metier: Metier): () => number {
  const spies = [vi.spyOn(metier, "useSkillTool"), vi.spyOn(metier, "readResource")];
  return () => {
    const count = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    for (const spy of spies) spy.mockClear();
    return count;
  };
}

const openStreams: Open = async (metier, options = {}) => {
  const server = createMcpServer(metier, { watch: false, ...options });
  const [input, output] = [new PassThrough(), new PassThrough()];
  void server.serveStreams(input, output);
  onTestFinished(() => server.close());
  const ask: Asking["ask"] = async (method, params, id = 7) => {
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    let text = "";
    while (!text.endsWith("\n")) text += String((await once(output, "data"))[0]);
    expect((JSON.parse(text) as Answer).id).toBe(id);
    return text;
  };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: INFO });
  return { ask, calls: countCalls(metier) };
};

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": INFO,
  "io.modelcontextprotocol/clientCapabilities": {},
};

function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const { method, params } = body as { readonly method: string; readonly params: Record<string, string> };
  return fetch(url, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...((params.name ?? params.uri) && { "mcp-name": params.name ?? params.uri }),
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

const openHttp: Open = async (metier, options = {}) => {
  const server = createMcpServer(metier, { watch: false, ...options });
  onTestFinished(() => server.close());
  const { url } = await server.listen();
  const ask: Asking["ask"] = async (method, params, id = 7) => {
    const response = await post(url, { jsonrpc: "2.0", id, method, params: { ...params, _meta: META } });
    const text = await response.text();
    expect((JSON.parse(text) as Answer).id).toBe(id);
    return text;
  };
  return { ask, calls: countCalls(metier) };
};

/** What was looked at for an answer is looked at once more before it is kept, beside the next request. */
async function askUntilKept({ ask, calls }: Asking, ...request: readonly [string, object]): Promise<string> {
  for (let times = 0; times < 100; times++) {
    calls();
    const text = await ask(...request);
    if (calls() === 0) return text;
    await setImmediate();
  }
  throw new Error("It is looked at each time.");
}

const USE = ["tools/call", { name: "use_skill", arguments: { skill: "notes" } }] as const;
const READ = ["resources/read", { uri: "skill://notes/SKILL.md" }] as const;

describe.each([
  ["streams", openStreams],
  ["HTTP", openHttp],
] as const)("over %s", (_, open) => {
  test.each([USE, READ])(
    "the same %s is answered without another look, by its own id",
    async (...request) => {
      const asking = await open(await notesWorld().metier());
      const { ask, calls } = asking;
      const first = await ask(...request, 1);
      expect(first).toContain("Read the notes.");
      expect(calls()).toBeGreaterThan(0);
      await askUntilKept(asking, ...request);
      for (const id of [2, "three", 'fo"ur']) {
        const { result } = JSON.parse(await ask(...request, id)) as Answer;
        expect(result).toEqual((JSON.parse(first) as Answer).result);
      }
      expect(calls()).toBe(0);
      await ask(USE[0], { ...USE[1], arguments: { skill: "notes", arguments: "now" } });
      expect(calls()).toBeGreaterThan(0);
    },
  );

  test.each([USE, READ])(
    "a changed file is seen by the next %s, whatever its size and time say",
    async (...request) => {
      const world = notesWorld();
      const asking = await open(await world.metier());
      const file = join(world.root, NOTES, "SKILL.md");
      const { atime, mtime } = statSync(file);
      expect(await askUntilKept(asking, ...request)).toContain("Read the notes.");
      writeFileSync(file, skill("notes", "", "Burn the notes."));
      utimesSync(file, atime, mtime);
      expect(await asking.ask(...request)).toContain("Burn the notes.");
    },
  );

  test("a new file, also in a folder that was empty, and a folder that moved are seen by the next use", async () => {
    const world = notesWorld();
    const asking = await open(await world.metier());
    const { ask, calls } = asking;
    await askUntilKept(asking, ...USE);
    world.write({ [`${NOTES}/assets/new.txt`]: "new" });
    expect(await ask(...USE)).toContain("assets/new.txt");
    vi.setSystemTime(Date.now() + 60_000);
    await askUntilKept(asking, ...USE);
    const folder = join(world.root, NOTES);
    renameSync(folder, join(world.root, "elsewhere"));
    symlinkSync(join(world.root, "elsewhere"), folder);
    await ask(...USE);
    expect(calls()).toBeGreaterThan(0);
  });

  test("a withdrawn grant, and a config that forbids the skill, count from the next call on", async () => {
    const world = createWorld();
    world.write({ "project/.claude/skills/notes/SKILL.md": skill("notes", "", "Read the notes.") });
    await world.cli("trust", ".");
    const metier = await world.metier({ trust: "grants" });
    const asking = await open(metier);
    const { ask } = asking;
    expect(await askUntilKept(asking, ...USE)).not.toContain("is untrusted");
    await world.cli("untrust", ".");
    await metier.reload();
    expect(await ask(...USE)).toContain("is untrusted");
    expect(await askUntilKept(asking, ...USE)).toContain("is untrusted");
    world.write({ "home/.metier/config.toml": '[skills]\ndeny = ["notes"]\n' });
    await metier.reload();
    expect(await ask(...USE)).not.toContain("Read the notes.");
    expect(await ask(...READ)).not.toContain("Read the notes.");
  });

  test("an installed skill that is not what its lock records any more is refused by the next use", async () => {
    const world = createWorld();
    world.write({ "project/from/notes/SKILL.md": skill("notes", "", "Read the notes.") });
    expect(await world.cli("install", "./from/notes", "--yes")).toMatchObject({ code: 0 });
    vi.setSystemTime(Date.now() + 60_000);
    const metier = await world.metier();
    const asking = await open(metier);
    expect(await askUntilKept(asking, ...USE)).toContain("Read the notes.");
    const { location } = metier.require("notes");
    chmodSync(location, 0o644);
    appendFileSync(location, "And burn them.");
    expect(await asking.ask(...USE)).toContain("records");
  });

  test("lists follow the catalog at once, although they stand while it does", async () => {
    const world = notesWorld();
    const metier = await world.metier();
    const { ask } = await open(metier, { watch: true });
    for (const method of ["tools/list", "skills/list"]) {
      const first = await ask(method, {}, 1);
      expect(first).toContain("notes");
      const { result } = JSON.parse(await ask(method, {}, 2)) as Answer;
      expect(result).toEqual((JSON.parse(first) as Answer).result);
    }
    world.write({ "home/.metier/skills/newcomer/SKILL.md": skill("newcomer") });
    await metier.reload();
    for (const method of ["tools/list", "skills/list"]) expect(await ask(method, {})).toContain("newcomer");
  });

  test.each([
    ["needs a program", "requires:\n  bins: [sh]", ""],
    ["has a command in its text", "", "Today is !`date`."],
    ["needs a tool", "context: inline\nrequired-tools: [use_skill]", ""],
  ])("the use of a skill that %s is looked at each time", async (_why, more, body) => {
    const { ask, calls } = await open(await notesWorld(more, `Read the notes. ${body}`).metier());
    for (const _again of [1, 2, 3, 4, 5]) {
      calls();
      expect(await ask(...USE)).toContain("<skill_content");
      expect(calls()).toBeGreaterThan(0);
      await setTimeout(20); // Long enough for what would be kept.
    }
  });

  test("where findings are accepted in a file, that is asked each time", async () => {
    const world = notesWorld();
    world.write({ "home/.metier/config.toml": '[scan]\nbaseline = ["accepted.json"]\n' });
    const { ask, calls } = await open(await world.metier());
    for (const _again of [1, 2, 3]) {
      calls();
      await ask(...USE);
      expect(calls()).toBeGreaterThan(0);
      await setTimeout(20);
    }
  });

  test("a run is made for each call", async () => {
    const { metier } = await openRuns(createRunWorld({ forking: ["context: fork"] }), [
      says("One."),
      says("Two."),
    ]);
    const { ask } = await open(metier, { run: {} });
    const params = { name: "use_skill", arguments: { skill: "forking", message: "Do it." } };
    expect(await ask("tools/call", params)).toContain("One.");
    await setTimeout(20);
    expect(await ask("tools/call", params)).toContain("Two.");
  });

  test("a skill that was just written is looked at each time, since its stamps may not show a change", async () => {
    const world = notesWorld();
    const { ask, calls } = await open(await world.metier());
    vi.useRealTimers();
    world.write({ [`${NOTES}/SKILL.md`]: skill("notes", "", "Just written.") });
    for (const _again of [1, 2, 3, 4, 5]) {
      calls();
      expect(await ask(...USE)).toContain("Just written.");
      expect(calls()).toBeGreaterThan(0);
    }
  });
});

test("what was answered over HTTP is answered to nobody else, and to no other request", async () => {
  const server = createMcpServer(await notesWorld().metier(), { watch: false });
  onTestFinished(() => server.close());
  const { url } = await server.listen({ token: "secret" });
  const [method, params] = USE;
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } };
  const statusOf = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    const response = await post(url, body, { authorization: "Bearer secret", ...headers });
    await response.text();
    return response.status;
  };
  for (const _again of [1, 2, 3]) {
    expect(await statusOf({})).toBe(200);
    await setImmediate();
  }
  expect(await statusOf({ authorization: "Bearer other" })).toBe(401);
  expect(await statusOf({ "mcp-method": "tools/list" })).toBe(400);
  expect(await statusOf({ "content-type": "text/plain" })).toBe(415);
  expect(await statusOf({})).toBe(200);
});
