/**
 * The program that the kill suite kills: it says when it is ready, waits for a word, and then installs, updates or removes
 * with everything real. Its own process, since only a process can be killed.
 */
import { createInterface } from "node:readline";
import { createMetier } from "@metier/runtime";

export interface KillTask {
  readonly operation: "install" | "update" | "remove";
  readonly source: string;
  readonly names: readonly string[];
  readonly agents: readonly string[];
}

const [home = "", cwd = ""] = process.argv.slice(2);
const metier = await createMetier({ home, cwd, environment: { PATH: process.env.PATH } });
// Loaded now, so that the task is all that is left to do.
await Promise.all([
  import("@metier/install/engine"),
  import("@metier/install/engine"),
  import("@metier/install/engine"),
  import("@metier/scan/engine"),
]);
process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const fault = await carryOut(JSON.parse(line) as KillTask);
  process.stdout.write(fault === undefined ? "done\n" : `${fault}\n`);
}

async function carryOut({ operation, source, names, agents }: KillTask): Promise<string | undefined> {
  const outcome = await {
    install: () => metier.install({ source, agents, skills: ["*"], yes: true }),
    update: () => metier.update({ yes: true }),
    remove: () => metier.remove(names),
  }[operation]();
  return outcome.ok ? undefined : outcome.fault.message;
}
