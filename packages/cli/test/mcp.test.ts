import { expect, test } from "vitest";
import { createWorld } from "../../../test/support/world.ts";

test("`mcp` in a terminal says how a client starts it", async () => {
  const { code, stdout, stderr } = await createWorld().cli("mcp");
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain("No client is connected");
  expect(stderr).toContain("--print-config claude");
});

test.each([
  [["--port", "80"], "only with `--http`"],
  [["--host", "0.0.0.0"], "only with `--http`"],
  [["--model", "fast"], "only with `--run`"],
  [["--http", "--port", "eighty"], "`--port` is `eighty`"],
  [["--http", "--port", "70000"], "`--port` is `70000`"],
  [["--http", "--host", "0.0.0.0"], "no token is set"],
  [["--print-config", "cluade"], "Did you mean `claude`?"],
  [["--print-config", "claude", "--model", "fast"], "only with `--run`"],
  [["--print-config", "claude", "--port", "80"], "only with `--http`"],
  [["--print-config", "claude", "--http"], "Leave out `--http`"],
])("%j is refused with the reason", async (flags, message) => {
  const { code, stderr } = await createWorld().cli("mcp", ...flags);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test("an empty token is a mistake, not no token", async () => {
  const world = createWorld({ environment: { METIER_MCP_TOKEN: " " } });
  const { code, stderr } = await world.cli("mcp", "--http");
  expect(code).toBe(2);
  expect(stderr).toContain("`METIER_MCP_TOKEN` is empty");
});

test("a port that is taken is a fault in words", async () => {
  const { createServer } = await import("node:net");
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const address = taken.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const { code, stderr } = await createWorld().cli("mcp", "--http", "--port", String(port));
  taken.close();
  expect(code).toBe(2);
  expect(stderr).toContain(`Cannot listen on \`127.0.0.1\`, port ${port}`);
});

test.each(["claude", "codex", "gemini", "opencode", "qwen", "vscode"])(
  "`--print-config %s` prints what it needs",
  async (client) => {
    const world = createWorld();
    const { code, stdout, stderr } = await world.cli(
      "mcp",
      "--print-config",
      client,
      "--path",
      "skills",
      "--run",
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/^For \S/);
    for (const word of [
      "metier",
      "mcp",
      "--home",
      world.home,
      "--path",
      `${world.project}/skills`,
      "--run",
    ]) {
      expect(stdout).toContain(JSON.stringify(word));
    }
  },
);

test("`--print-config` passes on everything that was said about the server, with whole paths", async () => {
  const world = createWorld();
  const said = ["--user", "ada", "--chat-type", "group", "--chat-id", "-100", "--run", "--model", "fast"];
  const places = ["--cwd", ".", "--config", "my.toml", "--profile", "strict"];
  const { json } = await world.cli("mcp", "--print-config", "opencode", "--json", ...said, ...places);
  expect(JSON.parse(json.text).mcp.metier.command).toEqual([
    ...["metier", "mcp", "--home", world.home, "--cwd", world.project],
    ...["--config", `${world.project}/my.toml`, "--profile", "strict"],
    ...["--user", "ada", "--chat-type", "group", "--chat-id", "-100", "--model", "fast", "--run"],
  ]);
});
