import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { JsonObject } from "@metier/base/json";
import { describe, expect, onTestFinished, test } from "vitest";
import { faultOf, openProvider, resultOf, supportProgram } from "../../../../test/support/bridges.ts";
import { readCapabilityDefinitions } from "../../src/read-definitions.ts";

const SERVER = { mcp: { command: supportProgram("./mcp-server.ts") } } as const;

describe("an MCP server as a provider", () => {
  test("offers its tools, of all pages, as operations of one capability", async () => {
    const { provider, wired } = openProvider(SERVER);
    expect(wired).toMatchObject({ kind: "mcp", namespace: "mail", command: SERVER.mcp.command });
    const raw = resultOf(await provider.definitions());
    const definitions = resultOf(
      await readCapabilityDefinitions(raw, { namespace: "mail", canSignIn: false }),
    );
    expect(definitions).toHaveLength(1);
    const [{ id, sensitive, description, operations } = never()] = definitions;
    expect({ id, sensitive }).toEqual({ id: "mail.tools", sensitive: true });
    expect(description).toContain(
      "Left out because they cannot be operations: `has a blank` and `bad-schema`",
    );
    const kinds = operations.map(({ name, mutating, idempotent, requiresAuth }) => [
      name,
      mutating,
      idempotent,
      requiresAuth,
    ]);
    expect(kinds).toEqual([
      ["contradictory", true, false, false],
      ["count", false, true, false],
      ["delete", true, true, false],
      ["environment", true, false, false],
      ["search", false, true, false],
      ["unsaid", true, false, false],
    ]);
    const [, count, , , search] = operations;
    expect(search?.inputSchema).toMatchObject({ required: ["query"] });
    expect(count?.outputSchema).toMatchObject({ required: ["count"] });
  });

  test("answers with its structured content, or with its text", async () => {
    const { invoke } = openProvider(SERVER);
    expect(resultOf(await invoke("count"))).toMatchObject({ count: 3 });
    expect(resultOf(await invoke("search", { query: "whales" }))).toEqual({
      text: "Found whales\nand more",
      left_out: ["image"],
    });
  });

  test("is told nothing of who asks, and sees no variable but its own", async () => {
    const { invoke } = openProvider(
      { ...SERVER, env: { SHELF_KEY: { value: "sesame-open-now", secret: true } } },
      { environment: { PATH: process.env.PATH, OPENAI_API_KEY: "sk-not-for-you" } },
    );
    const environment = resultOf(await invoke("environment"));
    expect(Object.keys(environment).sort()).toEqual(["HOME", "PATH", "SHELF_KEY"]);
    expect(environment.SHELF_KEY).toBe("[redacted:SHELF_KEY]");
  });

  test("says what went wrong: its own error, an unknown tool, a missing program", async () => {
    const { invoke } = openProvider(SERVER);
    expect(faultOf(await invoke("delete"))).toMatchObject({
      code: "capability_backend_unavailable",
      message: "A tool of the MCP server `mail` failed: There is no such book.",
    });
    expect(faultOf(await invoke("nothing"))).toMatchObject({
      code: "capability_backend_unavailable",
      message: expect.stringContaining("no such method"),
    });
    const missing = openProvider({ mcp: { command: ["no-such-server"] } });
    expect(faultOf(await missing.invoke("count")).message).toContain("`no-such-server`");
    const dead = openProvider({ mcp: { command: ["sh", "-c", "echo no shelf >&2; exit 2"] } });
    expect(faultOf(await dead.invoke("count")).message).toMatch(/exited with code 2.*no shelf/s);
  });

  test("that crashes or sends too much fails the call, and the next one finds it again", async () => {
    const { invoke } = openProvider(SERVER);
    const before = resultOf(await invoke("count")).pid;
    expect(faultOf(await invoke("unsaid", { how: "crash" })).message).toMatch(
      /exited with code 9.*out of shelves/s,
    );
    expect(resultOf(await invoke("count")).pid).not.toBe(before);
    expect(faultOf(await invoke("unsaid", { how: "flood" }))).toMatchObject({
      code: "capability_invalid_output",
      message: expect.stringContaining("more than 10485760 bytes"),
    });
    expect(resultOf(await invoke("count"))).toMatchObject({ count: 3 });
  });

  test("that hangs is given up at the timeout, and the next call finds another process", async () => {
    const { invoke } = openProvider({ ...SERVER, timeoutSeconds: 3 });
    const before = resultOf(await invoke("count")).pid;
    expect(faultOf(await invoke("unsaid", { how: "hang" })).code).toBe("capability_backend_unavailable");
    expect(resultOf(await invoke("count")).pid).not.toBe(before);
  });

  test("whose list of tools has no end is not registered", async () => {
    const { provider } = openProvider({ mcp: { command: supportProgram("./mcp-server.ts", "endless") } });
    expect(faultOf(await provider.definitions()).code).toBe("capability_backend_unavailable");
  });

  test("of the protocol's present form, which knows no `initialize`, is spoken with as well", async () => {
    const { invoke } = openProvider({ mcp: { command: supportProgram("./mcp-server.ts", "newest") } });
    expect(resultOf(await invoke("count"))).toMatchObject({ count: 3 });
  });

  test("ends with its host, and a caller can give up", async () => {
    const { invoke, provider, context } = openProvider(SERVER);
    const pid = Number(resultOf(await invoke("count")).pid);
    const caller = new AbortController();
    const call = { capabilityId: "mail.tools", operation: "unsaid", input: { how: "hang" } };
    const asked = provider.invoke(call, context(caller.signal));
    setTimeout(() => caller.abort(), 20);
    expect(faultOf(await asked).code).toBe("capability_cancelled");
    await provider.close?.();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(faultOf(await invoke("count")).message).toContain("closed");
  });

  test("may listen at an address, with a secret in its header", async () => {
    const url = await listen();
    const { provider, invoke } = openProvider({
      mcp: { url },
      env: { AUTHORIZATION: { value: "Bearer sesame-open-now", secret: true } },
    });
    expect((resultOf(await provider.definitions()) as JsonObject).definitions).toHaveLength(1);
    expect(resultOf(await invoke("count"))).toMatchObject({ count: 3 });
    const stranger = openProvider({ mcp: { url } });
    expect(faultOf(await stranger.invoke("count")).code).toBe("capability_backend_unavailable");
  });
});

async function listen(): Promise<string> {
  const [program = "", ...args] = supportProgram("./mcp-server.ts", "http");
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill());
  for await (const port of createInterface({ input: server.stdout })) return `http://127.0.0.1:${port}/mcp`;
  throw new Error("The server does not listen.");
}

function never(): never {
  throw new Error("There is none.");
}
