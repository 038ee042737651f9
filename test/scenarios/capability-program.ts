/** A program of its own that uses a persistent provider and then has nothing more to do: `capability-exit.test.ts`. */
import { writeSync } from "node:fs";
import { createMetier } from "metier";

const [home = "", cwd = "", ending = "leave"] = process.argv.slice(2);
const metier = await createMetier({ home, cwd });
const caller = { userId: "u1", chatType: "private" };
const answer = await metier.capabilities.invoke({ capability: "mail.inbox", operation: "echo" }, { caller });
writeSync(1, JSON.stringify(answer.ok ? answer.value.output : answer.fault));
if (ending === "close") {
  await metier.capabilities.close();
  writeSync(2, "closed");
  setInterval(() => undefined, 60_000);
}
