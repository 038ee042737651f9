/** The question before a capability changes something: exactly what will be done, and a `yes` that is typed. */
import type { ConfirmMutation } from "../../capabilities/capability-broker.ts";
import type { CliIo } from "../context.ts";

export function confirmInTerminal(io: Pick<CliIo, "ask" | "stderr">): ConfirmMutation {
  return async (plan, signal) => {
    const { mutationText } = await import("../output/capabilities-text.ts");
    io.stderr.write(`\nThis will be done for you, and changes something:\n${mutationText(plan)}\n`);
    const answer = await io.ask("Type `yes` to do exactly this; anything else leaves it: ", signal);
    return answer.trim().toLowerCase() === "yes" ? "yes" : "no";
  };
}
