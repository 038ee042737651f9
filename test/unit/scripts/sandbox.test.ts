import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { sandboxStatus } from "../../../scripts/setup/sandbox.mjs";
import { describeSandbox, sandboxTest } from "../../support/sandbox.ts";

test("a machine either has a sandbox or is told what is missing", () => {
  const { available, description, command } = sandboxStatus();
  expect(description).not.toBe("");
  if (available) expect(command).toBeUndefined();
});

describeSandbox("bubblewrap", () => {
  sandboxTest("runs a program that sees no network and no other process", () => {
    const script = "cat /proc/net/dev | tail -n +3; echo; ls /proc | grep -c '^[0-9]'";
    const args = [
      "--unshare-all",
      "--ro-bind",
      "/",
      "/",
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      "sh",
      "-c",
      script,
    ];
    const { status, stdout } = spawnSync("bwrap", args, { encoding: "utf8" });
    const [interfaces = "", processes = ""] = stdout.split("\n\n");
    expect(status).toBe(0);
    expect(
      interfaces
        .trim()
        .split("\n")
        .map((line) => line.split(":")[0]?.trim()),
    ).toEqual(["lo"]);
    expect(Number(processes)).toBeLessThan(10);
  });
});
