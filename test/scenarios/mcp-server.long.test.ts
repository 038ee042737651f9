/** `metier mcp` as clients start it: a real process over its streams or HTTP, in both versions of the protocol. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { installClaude } from "../support/claude-program.ts";
import { callText, createClient, PROTOCOLS, type ProtocolVersion } from "../support/mcp-clients.ts";
import { ROOT } from "../support/repository.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill, type World } from "../support/world.ts";

const MAIN = join(ROOT, "packages/cli/src/main.ts");
const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}';
const CODEWORD = "The codeword is HERON-52.";

function codewordWorld(): World {
  const world = createWorld();
  world.write({ "home/.metier/skills/codeword/SKILL.md": skill("codeword", "", CODEWORD) });
  return world;
}

function commandLine({ home, project }: World, ...more: readonly string[]): string[] {
  return [MAIN, "mcp", "--home", home, "--cwd", project, ...more];
}

async function connectStdio(
  world: World,
  version: ProtocolVersion,
  onChanged?: Parameters<typeof createClient>[1],
): Promise<Client> {
  const client = createClient(version, onChanged);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: commandLine(world), stderr: "pipe" }),
  );
  onTestFinished(() => client.close());
  return client;
}

interface HttpProcess {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startHttp(
  world: World,
  env: Record<string, string> = {},
  ...more: readonly string[]
): Promise<HttpProcess> {
  const child = spawn(process.execPath, commandLine(world, "--http", ...more), {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface(child.stderr), "line")) as [string];
  return { child, url: /http:\S+\/mcp/.exec(line)?.[0] ?? "" };
}

test.each(PROTOCOLS)(
  "in version %s a codeword reaches a client over standard input and output by every way, and news do, too",
  async (version) => {
    const world = codewordWorld();
    const changed = new Set<string>();
    let tell: () => void = () => undefined;
    const told = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const client = await connectStdio(world, version, (list) => {
      changed.add(list);
      if (changed.size === 3) tell();
    });
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect((await callText(client, "use_skill", { skill: "codeword" })).text).toContain(CODEWORD);
    const skills = new SkillsClient(client);
    const { skills: entries } = await skills.list();
    const entry = entries.find(({ frontmatter }) => frontmatter.name === "codeword");
    expect(entry && (await skills.read(entry)).body).toContain(CODEWORD);
    const { messages } = await client.getPrompt({ name: "codeword" });
    expect(JSON.stringify(messages)).toContain(CODEWORD);

    world.write({ "home/.metier/skills/newcomer/SKILL.md": skill("newcomer") });
    await told;
    expect((await callText(client, "list_skills", {})).text).toContain("newcomer");
  },
);

verifies(
  [117, 118],
  "a codeword reaches clients over HTTP with the token of the environment, until the server is ended",
  async () => {
    const { url, child } = await startHttp(codewordWorld(), { METIER_MCP_TOKEN: "open-sesame" });
    const headers = { Authorization: "Bearer open-sesame" };
    for (const version of PROTOCOLS) {
      const refused = new StreamableHTTPClientTransport(new URL(url));
      await expect(createClient(version).connect(refused)).rejects.toThrow();
      const client = createClient(version);
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      expect((await callText(client, "use_skill", { skill: "codeword" })).text).toContain(CODEWORD);
      await client.close();
    }
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);

test("over HTTP, the user's own `claude` program runs nothing for a client", async () => {
  const world = createWorld();
  const claude = installClaude(join(world.root, "bin"));
  world.write({
    "home/.metier/config.toml": `[models.default]\nprovider = "claude-program"\nprogram = "${claude.path}"\naccepted-terms = "2026-11-16"\n`,
    "home/.metier/skills/fork/SKILL.md": skill("fork", "context: fork"),
  });
  const { url } = await startHttp(world, {}, "--run");
  const client = createClient("2026-07-28");
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  const { text } = await callText(client, "use_skill", { skill: "fork", message: "Go." });
  expect(text).toContain("uses your own `claude` program, which must not serve other people");
  expect(claude.starts()).toEqual([]);
});

test("standard output is the protocol's alone, whatever is sent", async () => {
  const world = codewordWorld();
  world.write({
    "home/.metier/skills/broken/SKILL.md": "no frontmatter",
    "project/.metier/config.toml": "x = [",
  });
  const child = spawn(process.execPath, commandLine(world), { stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const lines = [
    "not json",
    INITIALIZE,
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"use_skill","arguments":{"skill":"codeword"}}}',
    '{"jsonrpc":"2.0","id":3,"method":"no/such/method"}',
  ];
  child.stdin.write(`${lines.join("\n")}\n`);
  await new Promise<void>((resolve) => {
    child.stdout.on("data", () => {
      if (output.includes('"id":3')) resolve();
    });
  });
  child.stdin.end();
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(0);
  const messages = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(messages.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
  expect(JSON.stringify(messages)).toContain("HERON-52");
});

test("an interrupt ends a server that a client still speaks with", async () => {
  const child = spawn(process.execPath, commandLine(codewordWorld()), { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.write(`${INITIALIZE}\n`);
  await once(child.stdout, "data");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
});
