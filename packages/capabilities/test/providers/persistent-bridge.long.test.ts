import type { JsonObject } from "@metier/base/json";
import { describe, expect, test } from "vitest";
import { bridgeCommand, faultOf, MACHINE, openProvider, resultOf } from "../../../../test/support/bridges.ts";
import { processesWith, until } from "../../../../test/support/processes.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import type { Answer } from "../../src/capability.ts";
import { makeRequest } from "../../src/providers/bridge-protocol.ts";
import type { BridgeExchange } from "../../src/providers/bridge-provider.ts";
import { createPersistentBridge, type PersistenceTimes } from "../../src/providers/persistent-bridge.ts";
import { prepareLaunch } from "../../src/providers/provider-launch.ts";

const PERSISTENT = { command: bridgeCommand(), persistent: true } as const;

function pidOf(answer: Answer<JsonObject>): number {
  return Number(resultOf(answer).pid);
}

describe("a bridge that stays", () => {
  test("answers calls at the same time, out of order, all in one process", async () => {
    const { invoke, provider, wired } = openProvider(PERSISTENT);
    expect(wired.kind).toBe("bridge-persistent");
    const done: string[] = [];
    const slow = invoke("wait", { ms: 300 }).then(() => done.push("slow"));
    const echoes = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const answer = await invoke("echo", { index });
        done.push("echo");
        expect(resultOf(answer).params).toMatchObject({ input_data: { index } });
        return pidOf(answer);
      }),
    );
    await slow;
    expect(new Set(echoes).size).toBe(1);
    expect(done.indexOf("slow")).toBeGreaterThan(0);
    expect(resultOf(await provider.definitions())).toHaveLength(1);
  });

  test("that crashes fails the calls it had, and the next one finds another process", async () => {
    const { invoke } = openProvider(PERSISTENT);
    const before = pidOf(await invoke("echo"));
    const waiting = invoke("wait", { ms: 60_000 });
    const crash = await invoke("crash");
    for (const answer of [crash, await waiting]) {
      const fault = faultOf(answer);
      expect(fault.code).toBe("capability_backend_unavailable");
      expect(fault.message).toContain("exited with code 3");
      expect(fault.message).toContain("No more ink.");
    }
    expect(pidOf(await invoke("echo"))).not.toBe(before);
  });

  test("that says what nobody can read fails the calls it had, and the next one finds another process", async () => {
    const { invoke } = openProvider(PERSISTENT);
    expect(faultOf(await invoke("garbage")).code).toBe("capability_invalid_output");
    expect(pidOf(await invoke("echo"))).toBeGreaterThan(0);
  });

  test("breaks one envelope, and only that call fails", async () => {
    const script = [
      "read a; read b",
      'id() { printf %s "$1" | sed \'s/.*"id":"\\([^"]*\\)".*/\\1/\'; }',
      'printf \'{"version":2,"id":"%s","result":{}}\\n\' "$(id "$a")"',
      'printf \'{"version":1,"id":"%s","result":{"n":2}}\\n\' "$(id "$b")"',
      "cat >/dev/null",
    ].join("\n");
    const { invoke } = openProvider({ command: ["sh", "-c", script], persistent: true });
    const answers = await Promise.all([invoke("a"), invoke("b")]); // Either may be the first to be sent.
    const failed = answers.filter(({ ok }) => !ok);
    expect(failed.map((answer) => faultOf(answer).code)).toEqual(["capability_invalid_output"]);
    expect(answers.filter(({ ok }) => ok).map(resultOf)).toEqual([{ n: 2 }]);
  });

  test("gives up one call at its timeout and goes on with the others", async () => {
    const { invoke } = openProvider({ ...PERSISTENT, timeoutSeconds: 3 });
    resultOf(await invoke("echo"));
    const late = invoke("hang");
    const others: ReturnType<typeof invoke>[] = [];
    let isLate = false;
    void late.then(() => {
      isLate = true;
    });
    await until("the call is given up", () => {
      others.push(invoke("echo"));
      return isLate;
    });
    expect(faultOf(await late).message).toContain("within 3 seconds.");
    others.push(invoke("echo"));
    expect(new Set((await Promise.all(others)).map(pidOf)).size).toBe(1);
  });

  test("that says nothing at all is ended at the timeout, with everything it had started", async () => {
    const { invoke } = openProvider({ ...PERSISTENT, timeoutSeconds: 3 });
    const before = pidOf(await invoke("echo"));
    const fault = faultOf(await invoke("hang"));
    expect(fault.message).toContain("so it was stopped");
    expect(fault.hint).toContain("persistent = false");
    expect(pidOf(await invoke("echo"))).not.toBe(before);
  });

  test("goes on when one caller gives up", async () => {
    const { provider, context, invoke } = openProvider(PERSISTENT);
    const before = pidOf(await invoke("echo"));
    const caller = new AbortController();
    const call = { capabilityId: "mail.inbox", operation: "wait", input: { ms: 100 } };
    const asked = provider.invoke(call, context(caller.signal));
    setTimeout(() => caller.abort(), 20);
    expect(faultOf(await asked).code).toBe("capability_cancelled");
    expect(resultOf(await invoke("wait", { ms: 150 }))).toEqual({}); // The late answer has come by now.
    expect(pidOf(await invoke("echo"))).toBe(before);
  });

  test("floods, and is ended at ten megabytes", async () => {
    const { invoke } = openProvider({ command: bridgeCommand("flood"), persistent: true });
    expect(faultOf(await invoke("echo"))).toMatchObject({ code: "capability_invalid_output" });
  });

  test("ends with its host", async () => {
    const { invoke, provider } = openProvider(PERSISTENT);
    const pid = pidOf(await invoke("echo"));
    await provider.close?.();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(faultOf(await invoke("echo")).message).toContain("closed");
  });
});

describe("the process behind it", () => {
  test("is left alone for a while once it failed to start twice, and says for how long", async () => {
    const { ask, exchange } = openExchange(["sh", "-c", "echo out of order >&2; exit 1"], {
      pauseMs: 50_000,
    });
    for (const _ of [1, 2]) expect(faultOf(await ask()).message).toContain("out of order");
    const fault = faultOf(await ask());
    expect(fault.message).toContain("exited 2 times in a row");
    expect(fault.retryAfterSeconds).toBeGreaterThan(0);
    await exchange.close();
  });

  test("is ended when nobody asks, and started by the next call", async () => {
    const { ask, exchange } = openExchange(bridgeCommand(), { idleMs: 10 });
    const first = Number((resultOf(await ask()).output as JsonObject).pid);
    await until("it has ended", () => !isRunning(first));
    expect(Number((resultOf(await ask()).output as JsonObject).pid)).not.toBe(first);
    await exchange.close();
  });

  test("does not keep its host running, and ends with it", async () => {
    const { spawnSync } = await import("node:child_process");
    const host = bridgeCommand().with(2, bridgeCommand()[2]?.replace("bridge-program", "bridge-host") ?? "");
    const [program = "", ...args] = host;
    const { stdout, stderr, status } = spawnSync(program, args, { encoding: "utf8", timeout: 30_000 });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const pid = Number(stdout);
    expect(pid).toBeGreaterThan(0);
    await until("it has ended", () => !isRunning(pid));
    expect(processesWith("bridge-host")).toEqual([]);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // There is none of that number.
  }
}

function openExchange(
  command: readonly string[],
  times: PersistenceTimes,
): { readonly exchange: BridgeExchange; ask(): Promise<Answer<JsonObject>> } {
  const surroundings = { home: temporaryFolder(), environment: process.env, machine: MACHINE };
  const launch = () => prepareLaunch({ name: "mail", command, env: {} }, surroundings);
  const exchange = createPersistentBridge({ name: "mail", timeoutMs: 30_000, launch }, times);
  const params = { capability_id: "mail.inbox", operation: "echo", input_data: {} };
  return { exchange, ask: () => exchange.ask(makeRequest("mail", "invoke", params)) };
}
