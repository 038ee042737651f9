/** Whether bubblewrap holds on this machine, and what brings it where it does not. */
import { createCommandFinder } from "../host/find-command.ts";
import { createBubblewrap } from "./bubblewrap.ts";
import { findHeldLimits } from "./held-limits.ts";
import { type Machine, type Probed, probeOnce, tryOut, unavailable } from "./probed.ts";
import { installCommand, kernelCommand } from "./sandbox-remedy.ts";

export const probeBubblewrap: (machine: Machine) => Promise<Probed> = probeOnce(
  async ({ environment, programs }) => {
    if (process.platform !== "linux") {
      return unavailable("bubblewrap", `bubblewrap does not exist for ${process.platform}.`);
    }
    const find = createCommandFinder(environment);
    const bwrap = find("bwrap");
    if (bwrap === undefined)
      return unavailable("bubblewrap", "bubblewrap is not installed.", installCommand(find));
    const prlimit = find("prlimit");
    const sandbox = createBubblewrap({ bwrap, programs, ...(prlimit !== undefined && { prlimit }) });
    const said = await tryOut(sandbox);
    if (said !== undefined) {
      const reason = `bubblewrap is installed but does not start: ${said} Version 0.8 or newer is needed.`;
      return unavailable("bubblewrap", reason, kernelCommand());
    }
    const limits = findHeldLimits(prlimit !== undefined, true);
    return { sandbox, probe: { backend: "bubblewrap", available: true, reason: `${bwrap}.`, limits } };
  },
);
