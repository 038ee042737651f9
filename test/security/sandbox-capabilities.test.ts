/** A command with capabilities: the same sandbox, without any network, and one socket of which the host is the other end. */
import {
  type CommandOutcome,
  chooseSandbox,
  createSandboxRuntime,
  createUnsandboxed,
  NO_PROGRAMS,
  type Sandbox,
  seenCapabilitySocket,
} from "@metier/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { ANNA, type OpenedSocket, openTestSocket } from "../support/capability-socket.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { openShell, type Shell } from "../support/sandbox-shell.ts";
import { verifies } from "../support/verifies.ts";

async function bubblewrap(): Promise<Sandbox> {
  const { sandbox } = await chooseSandbox({ backend: "bubblewrap" });
  if (!sandbox) throw new Error("bubblewrap does not start here.");
  return sandbox;
}

interface Granted {
  readonly opened: OpenedSocket;
  readonly shell: Shell;
  /** A command of Anna's run. */
  run(command: string): Promise<CommandOutcome>;
}

async function grant(open: () => Promise<Sandbox>): Promise<Granted> {
  const opened = await openTestSocket();
  const sandbox = await open();
  const shell = await openShell(async () => sandbox);
  return {
    opened,
    shell,
    async run(command) {
      const { token, revoke } = await opened.tokens.mint(ANNA, 60_000);
      onTestFinished(revoke);
      const socket = seenCapabilitySocket(sandbox.backend, opened.socketPath) ?? "";
      const env = { METIER_CONTEXT_TOKEN: token, METIER_RPC_SOCKET: socket };
      return shell.run(command, { capabilitySocket: opened.socketPath, env });
    },
  };
}

const READ = `capability invoke -c desk.mail -o echo --input-json '{"a":1}'`;

describeSandbox("inside the sandbox, without a network", () => {
  verifies([172, 175], "`metier-sb capability` lists and invokes through the bound socket", async () => {
    const { opened, run } = await grant(bubblewrap);
    const listed = await run("metier-sb capability list");
    expect([listed.stderr, listed.exitCode]).toEqual(["", 0]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ capabilities: [{ id: "desk.mail" }] });
    const invoked = await run(`metier-sb ${READ}`);
    expect(JSON.parse(invoked.stdout)).toMatchObject({ ok: true, output: { a: 1 } });
    expect(opened.broker.asked.map(([name, caller]) => [name, caller])).toEqual([
      ["list", ANNA],
      ["invoke", ANNA],
    ]);
  });

  verifies(175, "it answers as `ash-sb` too", async () => {
    const { run } = await grant(bubblewrap);
    const { exitCode, stdout } = await run(`ash-sb ${READ}`);
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { ok: true }]);
  });

  verifies(172, "nothing else of the host is reached: no network, and no other socket", async () => {
    const { run } = await grant(bubblewrap);
    const { stdout } = await run(`
      node -e 'require("net").connect(80, "192.0.2.1").on("error", (e) => console.log("net", e.code))'
      ls /run /run/metier
    `);
    expect(stdout).toBe("net ENETUNREACH\n/run:\nmetier\n\n/run/metier:\nbin\ncapability.sock\ninside\n");
  });

  verifies(
    172,
    "the token of an earlier command is worth nothing, and the socket cannot be replaced",
    async () => {
      const { opened, run } = await grant(bubblewrap);
      const old = await opened.tokens.mint(ANNA, 60_000);
      old.revoke();
      const { exitCode, stderr } = await run(`METIER_CONTEXT_TOKEN=${old.token} metier-sb capability list`);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Invalid context token (claims)")]);
      const { stdout } = await run("rm -f /run/metier/capability.sock; ls /run/metier/capability.sock");
      expect(stdout).toBe("/run/metier/capability.sock\n");
      expect(opened.broker.asked).toEqual([]);
    },
  );

  test("a flood from inside leaves the host at work", async () => {
    const { run } = await grant(bubblewrap);
    await run(`
      for i in 1 2 3 4 5 6 7 8; do
        node -e 'const s = require("net").connect("/run/metier/capability.sock");
          s.on("error", () => {}); s.on("close", () => process.exit());
          s.write(require("crypto").randomBytes(3000000))' &
      done
      wait
    `);
    expect((await run(`metier-sb ${READ}`)).exitCode).toBe(0);
  });

  verifies(172, "a command without the field finds neither the socket nor `ash-sb`", async () => {
    const { shell } = await grant(bubblewrap);
    const { stdout } = await shell.run("ls /run/metier; command -v ash-sb; metier-sb capability list 2>&1");
    expect(stdout).toMatch(/^bin\ninside\n/);
    expect(JSON.parse(stdout.slice("bin\ninside\n".length))).toMatchObject({
      error: { code: "no_capabilities" },
    });
  });
});

describe("other backends", () => {
  test("without a sandbox the client is on the PATH by both names, and the socket at its own place", async () => {
    const { run } = await grant(async () => createUnsandboxed());
    for (const name of ["metier-sb", "ash-sb"]) {
      const { exitCode, stdout, stderr } = await run(`${name} ${READ}`);
      expect([stderr, exitCode]).toEqual(["", 0]);
      expect(JSON.parse(stdout)).toMatchObject({ output: { a: 1 } });
    }
  });

  test("a backend that shows no socket refuses a command that is to have capabilities", async () => {
    const { sandbox: justBash } = await chooseSandbox({ backend: "just-bash", trust: "trusted" });
    const neverUsed = { wrap: () => Promise.reject(new Error("It wraps.")), release: () => undefined };
    const runtime = { ...neverUsed, version: "0", folder: "/" };
    for (const sandbox of [justBash, createSandboxRuntime({ runtime, programs: NO_PROGRAMS })]) {
      if (!sandbox) throw new Error("just-bash does not start here.");
      expect(seenCapabilitySocket(sandbox.backend, "/x")).toBeUndefined();
      const { run } = await grant(async () => sandbox);
      expect(await run("true")).toMatchObject({
        ended: "refused",
        reason: expect.stringContaining(`\`${sandbox.backend}\` cannot reach sockets`),
      });
    }
  });
});
