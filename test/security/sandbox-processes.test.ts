/** The sandbox holds when Metier itself is killed, and for an ordinary user as for root. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AS_NOBODY, canBecomeNobody, NOBODY, SANDBOXED_COMMAND } from "../support/nobody.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { findProcesses, uniqueSleep, untilGone } from "../support/sandbox-shell.ts";
import { temporaryFolder } from "../support/temporary.ts";

describeSandbox("sandboxed processes", () => {
  test("end when the process that started them is killed", async () => {
    const seconds = uniqueSleep();
    const command = `setsid sleep ${seconds} & nohup sleep ${seconds} & sleep ${seconds}`;
    const parent = spawn(process.execPath, [SANDBOXED_COMMAND, temporaryFolder(), command], {
      stdio: "ignore",
    });
    onTestFinished(() => void parent.kill("SIGKILL"));
    while (findProcesses(seconds).length < 3) await new Promise((resume) => setTimeout(resume, 20));
    parent.kill("SIGKILL");
    await once(parent, "exit");
    await untilGone(seconds);
  });

  test.skipIf(!canBecomeNobody())("are held when an ordinary user starts them", () => {
    const folder = temporaryFolder();
    chownSync(folder, NOBODY, NOBODY);
    const command =
      "id -u; grep CapEff /proc/self/status; touch mine && ls; cat /etc/shadow; unshare --user true";
    const { stdout } = spawnSync(
      "setpriv",
      [...AS_NOBODY, process.execPath, SANDBOXED_COMMAND, folder, command],
      {
        encoding: "utf8",
      },
    );
    const outcome = JSON.parse(stdout);
    expect(outcome.stdout).toMatch(/^65534\nCapEff:\s+0+\nmine\n$/);
    expect(outcome.stderr).toMatch(/shadow: No such file[\s\S]*unshare failed/);
    expect(statSync(join(folder, "mine")).uid).toBe(NOBODY);
  });
});
