/** The bubblewrap backend keeps the contract of a sandbox. */
import { chooseSandbox, type Sandbox } from "@metier/sandbox";
import { describeSandbox } from "../support/sandbox.ts";
import { commandConformance } from "../support/sandbox-conformance.ts";
import { isolationConformance } from "../support/sandbox-isolation.ts";

async function open(): Promise<Sandbox> {
  const { sandbox } = await chooseSandbox({ backend: "bubblewrap" });
  if (!sandbox) throw new Error("bubblewrap does not start here.");
  return sandbox;
}

describeSandbox("bubblewrap runs commands", () => commandConformance(open));
describeSandbox("bubblewrap isolates commands", () => isolationConformance(open));
