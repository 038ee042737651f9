/**
 * A process of its own that completes a sign-in: `node complete-sign-in.ts <home> <flow id> <now> [hang]`; prints the code of
 * the outcome. With `hang`, its provider says `asked` and never answers. Every question to a provider is a line in `asked`.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { answerWith, type CapabilityProvider } from "@metier/capabilities";
import { createBroker } from "@metier/capabilities/broker";

const [home = "", flowId = "", now = "", hang] = process.argv.slice(2);

const provider: CapabilityProvider = {
  namespace: "door",
  definitions: async () =>
    answerWith([
      { id: "door.mail", description: "Letters.", operations: [{ name: "read", description: "Reads." }] },
    ]),
  invoke: async () => answerWith({}),
  async authComplete() {
    appendFileSync(join(home, "asked"), "asked\n");
    if (hang) process.stdout.write("asked");
    await pause(hang ? 600_000 : 200);
    return answerWith({ accountRef: "account-1", credentialMaterial: {}, metadata: {} });
  },
};

const base = join(home, ".metier");
const broker = createBroker({
  providers: [
    { name: "door", namespace: "door", kind: "in-process", origin: "program", provider, timeoutMs: 600_000 },
  ],
  places: { base, state: join(base, "state") },
  now: () => Number(now),
});
const answer = await broker.auth.complete({ userId: "alice" }, { flowId, code: "abc" });
process.stdout.write(answer.ok ? "ok" : answer.fault.code);
