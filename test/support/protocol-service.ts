/**
 * A service for clients of other protocols: real runs in the sandbox, over HTTP on loopback, with a provider over HTTP behind
 * it that does as it is told: `run: <command>` calls bash, `ask: <question>` asks the user, `hang` never ends, anything else is
 * answered in two pieces.
 */
import type { JsonObject } from "@metier/base/json";
import { startLocalService } from "@metier/service";
import { onTestFinished } from "vitest";
import { ADMIN_KEY } from "./follow-events.ts";
import { createRunWorld } from "./scripted-runs.ts";
import { type StreamedAnswer, startStreaming } from "./streaming-provider.ts";
import type { World } from "./world.ts";

/** Without a key, as the admin. */
export type ServiceCall = (
  method: string,
  path: string,
  body?: JsonObject,
  key?: string,
) => Promise<JsonObject>;

export interface ProtocolService {
  readonly url: string;
  readonly key: string;
  readonly log: readonly string[];
  readonly call: ServiceCall;
  /** An admin key of a new tenant that may use the models of the service. */
  makeTenant(name: string): Promise<{ readonly id: string; readonly key: string }>;
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

/** By the last message of the user. */
function doAsTold(body: string): StreamedAnswer {
  const { messages } = JSON.parse(body) as { readonly messages: readonly Message[] };
  const last = messages.findLastIndex(({ role }) => role === "user");
  const said = JSON.stringify(messages[last]?.content ?? "");
  const results = messages.slice(last + 1).filter(({ role }) => role === "tool");
  const [, command] = /run: ([^"\\]+)/.exec(said) ?? [];
  const [, question] = /ask: ([^"\\]+)/.exec(said) ?? [];
  if (question !== undefined && results.length === 0)
    return { pieces: [], call: { tool: "ask_user", input: { question } } };
  if (said.includes("hang")) return { pieces: ["One moment"], hangs: true };
  if (command === undefined && results.length === 0) return { pieces: ["Hello, ", "world."] };
  if (command !== undefined && results.length === 0)
    return { pieces: ["Let me see. "], call: { tool: "bash", input: { command } } };
  return { pieces: ["Done: ", JSON.stringify(results.at(-1)?.content ?? "").slice(0, 200)] };
}

export function callsTo(url: string): ServiceCall {
  return async (method, path, body, key = ADMIN_KEY) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as JsonObject;
  };
}

/** A home with the skill `greet` and that model. */
export async function createProtocolWorld(): Promise<World> {
  const world = createRunWorld({ greet: [] });
  const provider = await startStreaming(doAsTold);
  world.write({ "home/.metier/config.toml": provider.toml });
  return world;
}

export async function openProtocolService(): Promise<ProtocolService> {
  const world = await createProtocolWorld();
  const log: string[] = [];
  const started = await startLocalService({
    home: world.home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY },
    times: { sweepMs: 50 },
    printLog: (line) => void log.push(line),
  });
  if (!started.ok) throw new Error(started.refusal.message);
  onTestFinished(() => started.value.stop(1_000));
  const { url } = started.value;
  const call = callsTo(url);
  return {
    url,
    key: ADMIN_KEY,
    log,
    call,
    async makeTenant(name) {
      const id = String((await call("POST", "/v1/tenants", { name })).id);
      await call("PUT", `/v1/tenants/${id}/models`, { usesHomeModels: true });
      const { key } = await call("POST", "/v1/keys", { tenant: id, role: "admin", name });
      return { id, key: String(key) };
    },
  };
}
