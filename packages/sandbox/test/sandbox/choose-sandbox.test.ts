import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeSandbox } from "../../../../test/support/sandbox.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { chooseSandbox, explainAbsence } from "../../src/sandbox/choose-sandbox.ts";
import { describeProbes } from "../../src/sandbox/probe.ts";

/** A PATH with these programs alone, each a shell script. */
function pathWith(programs: Readonly<Record<string, string>>): { readonly PATH: string } {
  const PATH = join(temporaryFolder(), "bin");
  mkdirSync(PATH);
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(PATH, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  }
  return { PATH };
}

describeSandbox("where bubblewrap works", () => {
  test("it is chosen, and tried once only", async () => {
    const first = await chooseSandbox({ backend: "auto" });
    const second = await chooseSandbox({ backend: "bubblewrap", trust: "trusted" });
    expect(first.sandbox?.backend).toBe("bubblewrap");
    expect(second.sandbox).toBe(first.sandbox);
    expect(first.diagnostics).toEqual([]);
    expect(describeProbes(first.probes)[0]).toMatch(/^bubblewrap: works; /);
  });
});

describe.skipIf(process.platform !== "linux")("where bubblewrap does not work", () => {
  test("an untrusted skill has no sandbox, and the exact command to install one is named", async () => {
    const environment = pathWith({ "apt-get": "exit 0" });
    const { sandbox, probes, diagnostics } = await chooseSandbox({ backend: "auto", environment });
    expect(sandbox).toBeUndefined();
    expect(probes).toMatchObject([
      { backend: "bubblewrap", available: false },
      { backend: "just-bash", available: false, reason: expect.stringContaining("trusted skills only") },
    ]);
    expect(explainAbsence(probes)).toMatch(/not installed\. Run `(sudo )?apt-get install -y bubblewrap`\./);
    expect(diagnostics).toMatchObject([
      { code: "sandbox.unavailable", hint: expect.stringContaining("install -y bubblewrap") },
    ]);
    expect(describeProbes(probes)[0]).toMatch(/^bubblewrap: does not work; .*apt-get/);
  });

  test("a trusted skill has an interpreted shell, and what that means is said loudly", async () => {
    const environment = pathWith({ "apt-get": "exit 0" });
    const request = { backend: "auto", trust: "trusted", environment } as const;
    const { sandbox, probes, diagnostics } = await chooseSandbox(request);
    expect(sandbox).toMatchObject({ backend: "just-bash", runsPrograms: false });
    expect(probes.map(({ backend, available }) => [backend, available])).toEqual([
      ["bubblewrap", false],
      ["just-bash", true],
    ]);
    expect(diagnostics).toMatchObject([{ code: "sandbox.interpreted", severity: "warning" }]);
    expect(diagnostics[0]?.message).toMatch(/do NOT run\. bubblewrap is not installed\.$/);
    expect(diagnostics[0]?.hint).toContain("install -y bubblewrap");
    expect((await chooseSandbox(request)).sandbox).toBe(sandbox);
  });

  test("a bubblewrap that does not start is not used, and what it said is shown", async () => {
    const environment = pathWith({ bwrap: "echo 'bwrap: No permissions to create namespace' >&2; exit 1" });
    const { sandbox, probes } = await chooseSandbox({ backend: "auto", environment });
    expect(sandbox).toBeUndefined();
    expect(probes[0]?.reason).toContain("No permissions to create namespace");
  });

  test("a backend that the config names is not replaced by another", async () => {
    const environment = pathWith({ "apt-get": "exit 0" });
    for (const backend of ["bubblewrap", "sandbox-runtime"] as const) {
      const { sandbox, probes } = await chooseSandbox({ backend, trust: "trusted", environment });
      expect(sandbox).toBeUndefined();
      expect(probes).toMatchObject([
        { backend, available: false, remedy: expect.stringMatching(/install -y bubblewrap/) },
      ]);
    }
  });

  test("an interpreted shell that the config asks for says how to be without it", async () => {
    const { sandbox, diagnostics } = await chooseSandbox({ backend: "just-bash", trust: "trusted" });
    expect(sandbox?.backend).toBe("just-bash");
    expect(diagnostics).toMatchObject([{ hint: expect.stringContaining('backend = "just-bash"') }]);
  });
});

describe("without a sandbox", () => {
  test("commands of a trusted skill run when the config says so, and that is said loudly", async () => {
    const { sandbox, diagnostics } = await chooseSandbox({ backend: "none", trust: "trusted" });
    expect(sandbox?.backend).toBe("none");
    expect(diagnostics).toMatchObject([{ code: "sandbox.unsandboxed", severity: "warning" }]);
  });

  test("commands of an untrusted skill never run, nor those of one whose trust nobody told", async () => {
    for (const request of [{ trust: "untrusted" as const }, {}]) {
      const { sandbox, probes } = await chooseSandbox({ backend: "none", ...request });
      expect(sandbox).toBeUndefined();
      expect(probes[0]?.reason).toContain("untrusted");
    }
  });
});
