/** Whether the interpreted shell can be used here, and for whom. */
import { createCommandFinder } from "../../host/find-command.ts";
import type { Trust } from "../../skill/skill.ts";
import { trustAllows } from "../../trust/trust-policy.ts";
import { type Machine, type Probed, probeOnce, tryOut, unavailable } from "../probed.ts";
import { installCommand } from "../sandbox-remedy.ts";
import { findShell } from "./find-shell.ts";
import { createJustBash } from "./just-bash.ts";

const FOR_TRUSTED =
  "just-bash is for trusted skills only, since its interpreter is no boundary of the system.";

export function probeJustBash(machine: Machine, trust: Trust): Promise<Probed> {
  if (!trustAllows(trust, "use-interpreted-shell"))
    return Promise.resolve(unavailable("just-bash", FOR_TRUSTED));
  return tryJustBash(machine);
}

const tryJustBash = probeOnce(async ({ environment }) => {
  if (process.platform === "win32") return unavailable("just-bash", "just-bash is not supported on win32.");
  const shell = findShell();
  if (!shell)
    return unavailable("just-bash", "The program of just-bash is missing from this installation of Metier.");
  const find = createCommandFinder(environment);
  const prlimit = find("prlimit");
  const sandbox = createJustBash({
    shell,
    advice: adviceFor(installCommand(find)),
    ...(prlimit !== undefined && { prlimit }),
  });
  const said = await tryOut(sandbox);
  if (said !== undefined) return unavailable("just-bash", `just-bash does not start: ${said}`);
  const reason =
    "an interpreted shell for trusted skills, with commands of its own; it starts no program of this machine.";
  return { sandbox, probe: { backend: "just-bash", available: true, reason } };
});

function adviceFor(installBubblewrap: string | undefined): string {
  if (process.platform !== "linux") return "`metier doctor` says how to have a sandbox that does.";
  const how = installBubblewrap === undefined ? "Install bubblewrap" : `Run \`${installBubblewrap}\``;
  return `${how} to have a sandbox that does.`;
}
