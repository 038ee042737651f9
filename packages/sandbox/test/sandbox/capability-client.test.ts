/** `metier-sb capability`: its words, what it prints, its exit codes, and how it finds the host. */
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ANNA,
  createMemoryBroker,
  type OpenedSocket,
  openTestSocket,
} from "../../../../test/support/capability-socket.ts";
import { COMPILED_CODE } from "../../../../test/support/compiled-code.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { insideFile } from "../../src/sandbox/inside-programs.ts";

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runClient(words: readonly string[], env: NodeJS.ProcessEnv = {}, stdin = ""): Promise<Ended> {
  const args = ["--no-warnings", insideFile("metier-sb"), "capability", ...words];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { env: { ...COMPILED_CODE, ...env } });
    const out = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => (out.stdout += String(chunk)));
    child.stderr.on("data", (chunk) => (out.stderr += String(chunk)));
    child.on("close", (code) => resolve({ code, ...out }));
    child.stdin.on("error", () => undefined); // It ended without reading.
    child.stdin.end(stdin);
  });
}

async function variables(opened: OpenedSocket): Promise<NodeJS.ProcessEnv> {
  return { METIER_CONTEXT_TOKEN: await opened.mint(), METIER_RPC_SOCKET: opened.socketPath };
}

function faultOf({ stderr }: Ended): Readonly<Record<string, unknown>> {
  return (JSON.parse(stderr) as { readonly error: Readonly<Record<string, unknown>> }).error;
}

describe("commands", () => {
  verifies(175, "list, invoke and every step of a sign-in reach the broker as they were meant", async () => {
    const opened = await openTestSocket();
    const env = await variables(opened);
    const commands = [
      ["list", "--all"],
      ["invoke", "-c", "desk.mail", "-o", "echo", "--input-json", '{"a":[1]}', "--idempotency-key", "k"],
      ["invoke", "--capability=desk.mail", "--operation", "echo", "--account", "work", "--plan-id", "plan_1"],
      ["auth", "begin", "-c", "desk.mail", "--account", "work"],
      ["auth", "list", "-c", "desk.mail"],
      ["auth", "complete", "--flow-id", "caf_1", "--code", "4/x"],
      ["auth", "complete", "-f", "caf_1", "--callback-url", "http://127.0.0.1/?code=4"],
      ["auth", "complete-callback", "--callback-url", "http://127.0.0.1/?code=4"],
      ["auth", "poll", "--flow-id", "caf_1"],
    ];
    for (const words of commands) {
      const { code, stdout, stderr } = await runClient(words, env);
      expect([words, code, stderr]).toEqual([words, 0, ""]);
      expect(() => JSON.parse(stdout)).not.toThrow();
    }
    const mail = { capability: "desk.mail" };
    expect(opened.broker.asked).toEqual([
      ["list", ANNA, { all: true }],
      ["invoke", ANNA, { ...mail, operation: "echo", input: { a: [1] }, idempotencyKey: "k" }, false],
      ["invoke", ANNA, { ...mail, operation: "echo", input: {}, account: "work", planId: "plan_1" }, false],
      ["begin", ANNA, { ...mail, account: "work" }],
      ["auth list", ANNA, mail],
      ["complete", ANNA, { flowId: "caf_1", code: "4/x" }],
      ["complete", ANNA, { flowId: "caf_1", callbackUrl: "http://127.0.0.1/?code=4" }],
      ["complete callback", ANNA, "http://127.0.0.1/?code=4"],
      ["poll", ANNA, "caf_1"],
    ]);
  });

  test("the result is printed as JSON, and input may come from standard input", async () => {
    const opened = await openTestSocket();
    const words = ["invoke", "-c", "desk.mail", "-o", "echo", "--input-json", "-"];
    const ended = await runClient(words, await variables(opened), '{"text":"Grüße"}');
    expect(JSON.parse(ended.stdout)).toMatchObject({
      ok: true,
      request_id: "cap_1",
      output: { text: "Grüße" },
    });
  });

  test("a fault of the host is JSON on standard error, with exit code 1", async () => {
    const opened = await openTestSocket();
    const ended = await runClient(["invoke", "-c", "desk.mail", "-o", "other"], await variables(opened));
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(faultOf(ended)).toEqual({
      code: "capability_rate_limited",
      message: "Too many.",
      hint: "Wait.",
      retry_after_seconds: 7,
    });
  });

  test("polling goes on until the sign-in is done, or the time is over", async () => {
    const opened = await openTestSocket({ broker: createMemoryBroker(["pending", "complete", "pending"]) });
    const env = await variables(opened);
    const done = await runClient(["auth", "poll", "--flow-id", "caf_1", "--timeout", "60"], env);
    expect(JSON.parse(done.stdout)).toMatchObject({ status: "complete", account_ref: "work" });
    const late = await runClient(
      ["auth", "poll", "--flow-id", "caf_1", "--timeout", "2", "--interval", "9"],
      env,
    );
    expect([late.code, faultOf(late).code]).toEqual([1, "still_pending"]);
  });

  test("what is not understood is said with the usage, and exit code 2", async () => {
    const wrong = [
      [[], "the command is missing; the commands are `list`, `invoke`"],
      [["steal"], "unknown command `steal`"],
      [["constructor"], "unknown command `constructor`"],
      [["invoke", "-c", "desk.mail"], "`invoke` needs `--operation`"],
      [["invoke", "-c", "desk.mail", "-o", "x", "--input-json", "{"], "`--input-json` is not valid JSON"],
      [["invoke", "-c", "desk.mail", "-o", "x", "--input-json", "[]"], "must be a JSON object"],
      [["list", "--code", "x"], "`list` does not take `--code`"],
      [["list", "--every"], "--every"],
      [["auth", "complete", "--flow-id", "caf_1"], "`--code` or `--callback-url` is missing"],
      [["auth", "poll", "--flow-id", "caf_1", "--timeout", "soon"], "must be a number of seconds"],
    ] as const;
    const ended = await Promise.all(wrong.map(([words]) => runClient(words)));
    for (const [index, { code, stdout, stderr }] of ended.entries()) {
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(wrong[index]?.[1]);
      expect(stderr).toContain("capability auth poll --flow-id FLOW");
    }
  });

  test("help is printed anywhere, and needs no host", async () => {
    for (const words of [["--help"], ["invoke", "-h"], ["auth", "begin", "--help"]]) {
      const { code, stdout } = await runClient(words);
      expect([code, stdout.includes("capability list [--all]")]).toEqual([0, true]);
    }
  });
});

describe("finding the host", () => {
  test("a command without a token or a socket has no capabilities, and is told when it would", async () => {
    for (const env of [{}, { METIER_CONTEXT_TOKEN: "t" }, { METIER_RPC_SOCKET: "/nowhere" }]) {
      const ended = await runClient(["list"], env);
      expect([ended.code, faultOf(ended).code]).toEqual([1, "no_capabilities"]);
    }
  });

  verifies(
    ["case 116", 175],
    "the socket is tried first, and loopback where that cannot be reached",
    async () => {
      const opened = await openTestSocket({ allowTcp: true });
      const { host = "", port = 0, bearer = "" } = opened.tcp ?? {};
      const loopback = { METIER_RPC_HOST: host, METIER_RPC_PORT: String(port), METIER_RPC_BEARER: bearer };
      const env = { ...(await variables(opened)), ...loopback };
      expect((await runClient(["list"], { ...env, METIER_RPC_PORT: "1" })).code).toBe(0);
      expect((await runClient(["list"], { ...env, METIER_RPC_SOCKET: "/nowhere/x.sock" })).code).toBe(0);
      expect((await runClient(["list"], { ...env, METIER_RPC_SOCKET: undefined })).code).toBe(0);
      const without = { ...env, METIER_RPC_SOCKET: "/nowhere", METIER_RPC_BEARER: undefined };
      expect(faultOf(await runClient(["list"], without)).message).toContain("Invalid bearer");
    },
  );

  verifies(175, "the names of the other system are read too", async () => {
    const opened = await openTestSocket();
    const env = { ASH_CONTEXT_TOKEN: await opened.mint(), ASH_RPC_SOCKET: opened.socketPath };
    expect((await runClient(["list"], env)).code).toBe(0);
  });

  test("a host that is not there is tried again, and then named", async () => {
    const ended = await runClient(["list"], { METIER_CONTEXT_TOKEN: "t", METIER_RPC_SOCKET: "/nowhere" });
    expect(faultOf(ended)).toMatchObject({
      code: "host_not_reached",
      message: expect.stringContaining("3 tries"),
    });
  });

  test("a refused token is a fault of its own", async () => {
    const opened = await openTestSocket();
    const ended = await runClient(["list"], { ...(await variables(opened)), METIER_CONTEXT_TOKEN: "a.b.c" });
    expect(faultOf(ended)).toEqual({
      code: "invalid_context_token",
      message: "Invalid context token (decode): A part of the token cannot be decoded.",
    });
  });

  test("a connection that closes without an answer is tried again, with the same nonce", async () => {
    const seen = new Set<string>();
    let connections = 0;
    const folder = temporaryFolder();
    const path = join(folder, "s");
    const server = createServer((socket) => {
      connections += 1;
      socket.once("data", (chunk) => {
        seen.add(/"nonce":"([^"]+)"/.exec(chunk.toString())?.[1] ?? "");
        socket.destroy();
      });
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const ended = await runClient(["list"], { METIER_CONTEXT_TOKEN: "t", METIER_RPC_SOCKET: path });
    expect([connections, seen.size, faultOf(ended).code]).toEqual([3, 1, "host_gave_no_answer"]);
  });
});
