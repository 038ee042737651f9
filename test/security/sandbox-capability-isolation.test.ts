/** A sandbox that shows the socket of the capabilities keeps everything else from a command, as it does without it. */
import { chooseSandbox } from "@metier/sandbox";
import { openTestSocket } from "../support/capability-socket.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { isolationConformance } from "../support/sandbox-isolation.ts";

describeSandbox("a command with capabilities is isolated like any other", () => {
  isolationConformance(async () => {
    const { sandbox } = await chooseSandbox({ backend: "bubblewrap" });
    if (!sandbox) throw new Error("bubblewrap does not start here.");
    const { socketPath } = await openTestSocket();
    return { ...sandbox, run: (command) => sandbox.run({ capabilitySocket: socketPath, ...command }) };
  });
});
