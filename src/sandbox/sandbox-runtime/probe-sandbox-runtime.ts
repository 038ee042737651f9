/** Whether sandbox-runtime is installed beside Metier, starts, and really keeps a file of ours from being read. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCommandFinder } from "../../host/find-command.ts";
import { findHeldLimits } from "../held-limits.ts";
import {
  type Machine,
  PROBE_LIMITS,
  PROBE_WORLD,
  type Probed,
  probeOnce,
  tryOut,
  unavailable,
} from "../probed.ts";
import type { Sandbox } from "../sandbox.ts";
import { installCommand } from "../sandbox-remedy.ts";
import { findSandboxRuntime, PACKAGE } from "./find-package.ts";
import { createSandboxRuntime } from "./sandbox-runtime.ts";

/** What it starts by itself. */
const NEEDED: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["bwrap", "rg"],
  darwin: ["sandbox-exec"],
};

const NOTES: Partial<Record<NodeJS.Platform, string>> = {
  linux: ", where files outside of a run's folders stay in memory without a limit of their own",
  darwin: ", not tested on macOS",
};

export const probeSandboxRuntime: (machine: Machine) => Promise<Probed> = probeOnce(
  async ({ environment, programs }) => {
    const fail = (reason: string, remedy?: string): Probed => unavailable("sandbox-runtime", reason, remedy);
    const needed = NEEDED[process.platform];
    if (!needed) return fail(`sandbox-runtime does not exist for ${process.platform}.`);
    const find = createCommandFinder(environment);
    const missing = needed.filter((name) => find(name) === undefined);
    if (missing.length > 0)
      return fail(`sandbox-runtime needs ${missing.join(" and ")}.`, installCommand(find, missing));
    if (process.platform === "linux" && process.getuid?.() === 0) {
      // Inside, root keeps every privilege over its namespace: it could change settings of the whole kernel.
      return fail("sandbox-runtime does not hold root on Linux; start Metier as an ordinary user.");
    }
    const runtime = await findSandboxRuntime();
    if (!runtime) return fail(`\`${PACKAGE}\` is not installed beside Metier.`, `npm install ${PACKAGE}`);
    const prlimit = find("prlimit");
    const sandbox = createSandboxRuntime({ runtime, programs, ...(prlimit !== undefined && { prlimit }) });
    const said = await tryOut(sandbox);
    if (said !== undefined) return fail(`${PACKAGE} ${runtime.version} does not start: ${said}`);
    if (await canReadOurs(sandbox))
      return fail(`${PACKAGE} ${runtime.version} does not keep files from being read.`);
    const reason = `${PACKAGE} ${runtime.version}${NOTES[process.platform] ?? ""}; it has no network, also where domains are granted.`;
    const limits = findHeldLimits(prlimit !== undefined, false);
    return { sandbox, probe: { backend: "sandbox-runtime", available: true, reason, limits } };
  },
);

/** Another version might take its policy for something else. */
async function canReadOurs(sandbox: Sandbox): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "metier-probe-"));
  try {
    const file = join(folder, "private");
    writeFileSync(file, "private");
    const command = { argv: ["cat", file], world: PROBE_WORLD, env: {}, limits: PROBE_LIMITS };
    const { stdout } = await sandbox.run(command);
    return stdout !== "";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
