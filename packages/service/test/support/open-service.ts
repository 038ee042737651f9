/** A service on SQLite in a temporary folder, over real HTTP on loopback; gone when the test ends. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Json, JsonObject } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import { openMasterKey } from "@metier/durable/snapshots";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { openFolderShelf, type RunningService, type ServiceOptions, startService } from "@metier/service";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { type ScriptOptions, scriptRuns } from "./scripted-run.ts";

export const ADMIN_KEY = "an-admin-key-for-tests-only";

export interface HttpReply {
  readonly status: number;
  readonly body: JsonObject & { readonly data?: readonly JsonObject[]; readonly error?: JsonObject };
  readonly headers: Headers;
  readonly text: string;
}

export interface TestService extends RunningService {
  readonly folder: string;
  readonly store: ServiceOptions["store"];
  readonly log: readonly string[];
  /** With the admin key, unless `key` says otherwise; `null`: without one. */
  call(method: string, path: string, options?: CallOptions): Promise<HttpReply>;
  /** A key with these scopes. */
  makeKey(scopes: readonly string[], more?: JsonObject): Promise<string>;
  start(message: string, more?: JsonObject): Promise<string>;
  /** Polls until the run has one of these statuses. */
  settle(runId: string, ...statuses: readonly string[]): Promise<JsonObject>;
}

interface CallOptions {
  readonly body?: Json | Buffer;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

interface OpenOptions extends Partial<ServiceOptions> {
  readonly folder?: string;
  readonly script?: ScriptOptions;
}

export async function openService({
  folder = temporaryFolder(),
  script,
  ...options
}: OpenOptions = {}): Promise<TestService> {
  const store = required(openSqliteStore({ file: join(folder, "state", "metier.db") }));
  const engine = required(openSqliteEngine({ file: join(folder, "state", "engine.db") }));
  const log: string[] = [];
  const { now = Date.now } = options;
  const workFolder = async (runId: string): Promise<string> => {
    const work = join(folder, "work", runId);
    mkdirSync(work, { recursive: true });
    return work;
  };
  const service = await startService({
    store,
    engine,
    openAdvance: scriptRuns(script),
    shelf: openFolderShelf({
      folder: join(folder, "shelf"),
      records: store.records,
      listOwn: async () => [{ name: "greet", description: "Says hello.", trust: "trusted" }],
      now,
    }),
    masterKey: required(openMasterKey({ environment: {}, file: join(folder, "master-key") })),
    workFolder,
    adminKey: ADMIN_KEY,
    times: { sweepMs: 50 },
    printLog: (line) => void log.push(line),
    ...options,
  });
  let isStopped = false;
  const stop = async (graceMs?: number): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await service.stop(graceMs);
    await engine.close();
    store.close();
  };
  onTestFinished(() => stop(1_000));
  const call = (method: string, path: string, given: CallOptions = {}): Promise<HttpReply> =>
    request(`${service.url}${path}`, method, given, service.adminKey ?? ADMIN_KEY);
  const settle: TestService["settle"] = async (runId, ...statuses) => {
    for (;;) {
      const { body } = await call("GET", `/v1/runs/${runId}`);
      if (statuses.includes(String(body.status))) return body;
      await new Promise<void>((resolve) => setTimeout(resolve, 10));
    }
  };
  return {
    ...service,
    folder,
    store,
    log,
    call,
    stop,
    settle,
    async makeKey(scopes, more = {}) {
      const made = await call("POST", "/v1/keys", { body: { name: "a key", scopes: [...scopes], ...more } });
      return String(made.body.key);
    },
    async start(message, more = {}) {
      const { body } = await call("POST", "/v1/runs", { body: { skill: "greet", message, ...more } });
      return String(body.id);
    },
  };
}

async function request(
  url: string,
  method: string,
  { body, key, headers }: CallOptions,
  usual: string,
): Promise<HttpReply> {
  const sent = key === undefined ? usual : key;
  const response = await fetch(url, {
    method,
    headers: { ...(sent !== null && { authorization: `Bearer ${sent}` }), ...headers },
    ...(body !== undefined && { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
}

function required<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
