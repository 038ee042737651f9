/** The sandbox-runtime backend keeps the contract of a sandbox, where its package and its programs are installed. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createCommandFinder } from "@metier/base/programs";
import {
  chooseSandbox,
  createSandboxRuntime,
  findSandboxRuntime,
  NO_PROGRAMS,
  type Sandbox,
} from "@metier/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandConformance } from "../support/sandbox-conformance.ts";
import { filesConformance } from "../support/sandbox-isolation.ts";
import { openShell } from "../support/sandbox-shell.ts";

/** Made without the probe, which does not offer it to root: what is tried here holds for root too. */
const runtime = await findSandboxRuntime();
const hasPrograms = ["bwrap", "rg"].every((name) => createCommandFinder(process.env)(name) !== undefined);

async function open(): Promise<Sandbox> {
  if (!runtime) throw new Error("sandbox-runtime is not installed.");
  const prlimit = createCommandFinder(process.env)("prlimit");
  return createSandboxRuntime({ runtime, programs: NO_PROGRAMS, ...(prlimit !== undefined && { prlimit }) });
}

test.runIf(process.getuid?.() === 0)("sandbox-runtime is not offered to root", async () => {
  const { sandbox } = await chooseSandbox({ backend: "sandbox-runtime" });
  expect(sandbox).toBeUndefined();
});

describe.skipIf(!(runtime && hasPrograms))("sandbox-runtime (needs its package, bwrap and rg)", () => {
  describe("runs commands", () => commandConformance(open));
  describe("shows the world of its run", () => filesConformance(open));

  test("reaches no network, whatever was granted", async () => {
    const { run } = await openShell(open);
    const server = createServer((_request, response) => response.end("reached"));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const inside = `fetch("http://127.0.0.1:${port}").then(() => console.log("reached"), () => console.log("failed"))`;
    const argv = ["node", "-e", inside];
    expect((await run("", { argv })).stdout.trim()).toBe("failed");
    expect((await run("", { argv, egressSocket: "/run/metier-test.sock" })).stdout.trim()).toBe("failed");
  });

  test("has a folder for passing files that is gone after the command", async () => {
    const { run } = await openShell(open);
    const { stdout } = await run('echo x > "$TMPDIR/mine" && cat "$TMPDIR/mine" && echo "$TMPDIR"');
    const [content, folder = ""] = stdout.trim().split("\n");
    expect(content).toBe("x");
    expect((await run(`cat ${folder}/mine`)).exitCode).not.toBe(0);
  });

  test("refuses a world that it cannot hold", async () => {
    const { run, folders } = await openShell(open);
    const world = folders.world();
    const placed = [{ from: folders.project, at: join(folders.skill, "node_modules") }];
    const packages = await run("echo ran", { world: { ...world, placed } });
    expect(packages).toMatchObject({ ended: "refused", stdout: "" });
    expect(packages.reason).toContain("packages");
    const inner = join(folders.project, "hidden/work");
    folders.write({ "project/hidden/work/a.txt": "a" });
    const nested = await run("echo ran", {
      world: {
        ...world,
        readable: [...world.readable, inner],
        writable: [...world.writable, folders.project, inner],
        masked: [join(folders.project, "hidden")],
      },
    });
    expect(nested).toMatchObject({ ended: "refused", stdout: "" });
    expect(nested.reason).toContain(inner);
  });
});
