/**
 * A service on one machine for unmodified clients of other protocols: real runs in the sandbox, a model provider over HTTP that
 * does what the message says, and a second tenant with nothing of the first.
 */
import type { JsonObject } from "@metier/base/json";
import { startLocalService } from "@metier/service";
import { onTestFinished } from "vitest";
import { ADMIN_KEY } from "../../../../test/support/follow-events.ts";
import { callsTo, type ServiceCall } from "../../../../test/support/protocol-service.ts";
import { createRunWorld } from "../../../../test/support/scripted-runs.ts";
import { type ServeProcess, startServe } from "../../../../test/support/serve-process.ts";
import { type StreamedAnswer, startStreaming } from "../../../../test/support/streaming-provider.ts";

export { ADMIN_KEY };

export const PIECES = ["Hello ", "dear ", "reader."];
export const SAID = PIECES.join("");

/** `build`: calls bash, then says what came of it. `ask me`: asks the user. `hang`: never ends. Anything else is greeted. */
function answerTo(body: string): StreamedAnswer {
  const { messages } = JSON.parse(body) as { readonly messages: readonly JsonObject[] };
  const last = messages.at(-1);
  const asked = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
  if (last?.role === "tool" && asked.includes("ask me"))
    return { pieces: [`You said ${String(last.content)}`] };
  if (last?.role === "tool") {
    const isDone = JSON.stringify(last.content).includes("made-it");
    return { pieces: [isDone ? "It is built." : "It is not built."] };
  }
  if (asked.includes("build"))
    return { pieces: ["I try. "], call: { tool: "bash", input: { command: "echo made-it" } } };
  if (asked.includes("ask me"))
    return { pieces: [], call: { tool: "ask_user", input: { question: "Which color?" } } };
  if (asked.includes("hang")) return { pieces: ["Wait"], hangs: true };
  return { pieces: PIECES };
}

export interface ClientWorld {
  readonly url: string;
  readonly home: string;
  readonly call: ServiceCall;
  settle(runId: string, ...statuses: readonly string[]): Promise<JsonObject>;
  /** Of the tenant `default`. */
  makeKey(role: string, more?: JsonObject): Promise<string>;
  /** An admin key of a tenant that has nothing. */
  makeStranger(): Promise<string>;
}

export async function openClientWorld(): Promise<ClientWorld> {
  const home = await makeHome();
  const started = await startLocalService({
    home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY },
    times: { sweepMs: 50 },
  });
  if (!started.ok) throw new Error(started.refusal.message);
  onTestFinished(() => started.value.stop(2_000));
  return openCalls(started.value.url, home);
}

/** The same in a process of its own, which can be killed and started again at the same address. */
export async function openKillableWorld(): Promise<ClientWorld & { killAndStart(): Promise<void> }> {
  const home = await makeHome();
  let served: ServeProcess = await startServe(home);
  const { port } = new URL(served.url);
  return {
    ...openCalls(served.url, home),
    async killAndStart() {
      await served.kill();
      served = await startServe(home, { port });
    },
  };
}

async function makeHome(): Promise<string> {
  const provider = await startStreaming(answerTo);
  const world = createRunWorld({ greet: [], other: [] });
  world.write({ "home/.metier/config.toml": provider.toml });
  return world.home;
}

function openCalls(url: string, home: string): ClientWorld {
  const call = callsTo(url);
  return {
    url,
    home,
    call,
    async settle(runId, ...statuses) {
      for (;;) {
        const run = await call("GET", `/v1/runs/${runId}`);
        if (statuses.includes(String(run.status))) return run;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    makeKey: async (role, more = {}) => String((await call("POST", "/v1/keys", { role, ...more })).key),
    async makeStranger() {
      const { id } = await call("POST", "/v1/tenants", { name: "strangers" });
      return String((await call("POST", "/v1/keys", { tenant: id ?? "", role: "admin" })).key);
    },
  };
}
