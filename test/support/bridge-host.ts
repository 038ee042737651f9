/** A program that calls a bridge that stays and then has nothing more to do: prints the number of the bridge's process. */
import { tmpdir } from "node:os";
import { createPersistentBridge, makeRequest } from "@metier/capabilities";

const program = new URL("./bridge-program.ts", import.meta.url).pathname;
const exchange = createPersistentBridge({
  name: "mail",
  timeoutMs: 30_000,
  launch: async () => ({
    ok: true,
    value: {
      program: process.execPath,
      args: ["--no-warnings", decodeURIComponent(program)],
      env: {},
      cwd: tmpdir(),
      secrets: [],
    },
  }),
});
const params = { operation: "echo", input_data: {} };
const answer = await exchange.ask(makeRequest("mail", "invoke", params));
if (answer.ok) process.stdout.write(String((answer.value.output as { readonly pid: number }).pid));
