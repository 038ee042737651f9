import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bridgeCommand, faultOf, openProvider, resultOf } from "../../../../test/support/bridges.ts";
import { processesWith, sleepersOf, until } from "../../../../test/support/processes.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";

/** A number of seconds that nothing else waits for. */
const mark = (): string => `9${process.pid}.${Math.floor(Math.random() * 1e9)}`;

describe("a bridge that", () => {
  verifies("case 131", "is not there, or no program, is unavailable, with what to do", async () => {
    const missing = openProvider({ command: ["no-such-bridge", "serve"] });
    const fault = faultOf(await missing.invoke("echo"));
    expect(fault.code).toBe("capability_backend_unavailable");
    expect(fault.message).toContain("`no-such-bridge`");
    expect(fault.hint).toContain("[capabilities.providers.mail]");
    const folder = temporaryFolder();
    writeTree(folder, { "bridge.txt": "no program" });
    for (const file of ["nothing-here", "bridge.txt"]) {
      const { invoke } = openProvider({ command: [join(folder, file)] });
      expect(faultOf(await invoke("echo"))).toMatchObject({
        code: "capability_backend_unavailable",
        message: expect.stringContaining("was not started"),
      });
    }
  });

  verifies("case 131", "ends with another exit code is unavailable, with what it wrote", async () => {
    const { invoke } = openProvider({ command: bridgeCommand("exit-badly", "7") });
    const fault = faultOf(await invoke("echo"));
    expect(fault).toMatchObject({ code: "capability_backend_unavailable" });
    expect(fault.message).toContain("exited with code 7");
    expect(fault.message).toContain("cannot open the mailbox");
  });

  test("tells its secret on standard error does not get it repeated", async () => {
    const { invoke, wired } = openProvider({ command: bridgeCommand() });
    const { message } = faultOf(await invoke("crash"));
    expect(message).toContain("No more ink.");
    expect(message).toContain("[redacted:METIER_CONTEXT_TOKEN_SECRET]");
    expect(message).not.toContain(wired.tokens?.exportSecret());
  });

  verifies(
    "case 131",
    "hangs, deaf to SIGTERM, is ended at its timeout with a child in another session",
    async () => {
      const sleep = mark();
      const { invoke } = openProvider({
        command: bridgeCommand("hang-with-child", sleep),
        timeoutSeconds: 1,
      });
      expect(faultOf(await invoke("echo"))).toMatchObject({
        code: "capability_backend_unavailable",
        message: expect.stringContaining("within 1 seconds"),
      });
      await until("both are gone", () => processesWith(sleep).length === 0);
    },
  );

  test("puts a child out of its tree before it hangs loses that as well", async () => {
    const sleep = mark();
    const script = `setsid sh -c 'sleep ${sleep} & :' & wait; while :; do sleep 0.1; done`;
    const { invoke } = openProvider({ command: ["sh", "-c", script], timeoutSeconds: 2 });
    const asked = invoke("echo");
    await until("the child runs", () => sleepersOf(sleep) === 1);
    expect(faultOf(await asked).code).toBe("capability_backend_unavailable");
    await until("it is gone", () => sleepersOf(sleep) === 0);
  });

  test("leaves a child behind that holds its output has answered all the same, and the child is ended", async () => {
    const sleep = mark();
    const { invoke } = openProvider({ command: bridgeCommand("leave-child", sleep) });
    expect(resultOf(await invoke("echo"))).toEqual({});
    await until("it is gone", () => sleepersOf(sleep) === 0);
  });

  test("floods its output is ended at ten megabytes", async () => {
    const { invoke } = openProvider({ command: bridgeCommand("flood") });
    expect(faultOf(await invoke("echo"))).toMatchObject({
      code: "capability_invalid_output",
      message: expect.stringContaining("more than 10485760 bytes"),
    });
  });

  test("floods its standard error is ended, and nobody keeps it", async () => {
    const { invoke } = openProvider({ command: bridgeCommand("flood-errors") });
    const fault = faultOf(await invoke("echo"));
    expect(fault.code).toBe("capability_backend_unavailable");
    expect(fault.message).toContain("at a limit");
    expect(fault.message.length).toBeLessThan(1000);
  });

  verifies(
    "case 131",
    "answers with something else than JSON, or not in UTF-8, has not answered",
    async () => {
      const { invoke } = openProvider({ command: bridgeCommand("raw", "Welcome!") });
      expect(faultOf(await invoke("echo")).code).toBe("capability_invalid_output");
      const latin = openProvider({ command: ["sh", "-c", "cat >/dev/null; printf '\\377\\376'"] });
      expect(faultOf(await latin.invoke("echo")).message).toContain("not UTF-8");
    },
  );

  test("never reads what it is sent is not waited for", async () => {
    const { invoke } = openProvider({ command: ["sh", "-c", "exec 0<&-; exit 4"] });
    const fault = faultOf(await invoke("echo", { text: "x".repeat(1_000_000) }));
    expect(fault.message).toContain("exited with code 4");
  });

  test("is at work when the caller gives up, or the host closes, is ended", async () => {
    const { provider, context, invoke } = openProvider({ command: bridgeCommand() });
    const caller = new AbortController();
    const call = { capabilityId: "mail.inbox", operation: "hang", input: {} };
    const cancelled = provider.invoke(call, context(caller.signal));
    setTimeout(() => caller.abort(), 50);
    expect(faultOf(await cancelled).code).toBe("capability_cancelled");
    const cut = invoke("hang");
    setTimeout(() => provider.close?.(), 50);
    expect(faultOf(await cut).code).toBe("capability_cancelled");
    expect(faultOf(await invoke("echo")).message).toContain("closed");
  });
});
