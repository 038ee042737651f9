/** A service on SQLite in a temporary folder, over real HTTP on loopback; gone when the test ends. */
import { gzipSync } from "node:zlib";
import type { Json, JsonObject } from "@metier/base/json";
import { onTestFinished } from "vitest";
import { tarOf } from "../../../../test/support/archives.ts";
import { ADMIN_KEY } from "../../../../test/support/follow-events.ts";
import { skillText, temporaryFolder } from "../../../../test/support/temporary.ts";
import type { RunningService, ServiceOptions } from "../../src/start-service.ts";
import type { ScriptOptions } from "./scripted-run.ts";
import { type OpenStores, startScripted } from "./start-scripted.ts";

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
  /** A new tenant, an admin key of it, and a skill `greet` of its own. */
  makeTenant(name: string): Promise<{ readonly id: string; readonly key: string }>;
  start(message: string, more?: JsonObject): Promise<string>;
  /** Polls until the run has one of these statuses. */
  settle(runId: string, ...statuses: readonly string[]): Promise<JsonObject>;
}

interface CallOptions {
  readonly body?: Json | Buffer;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OpenOptions extends Partial<ServiceOptions> {
  readonly folder?: string;
  /** Default: SQLite in the folder. */
  readonly openStores?: OpenStores;
  readonly script?: ScriptOptions;
}

const GREET = gzipSync(
  tarOf({ name: "greet/SKILL.md", content: skillText("name: greet\ndescription: Says hello.") }),
);

export async function openService({
  folder = temporaryFolder(),
  script,
  openStores,
  ...options
}: OpenOptions = {}): Promise<TestService> {
  const log: string[] = [];
  const { stores, service } = await startScripted({
    folder,
    script,
    openStores,
    options: { printLog: (line) => void log.push(line), ...options },
  });
  let isStopped = false;
  const stop = async (graceMs?: number): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await service.stop(graceMs);
    await stores.close();
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
    store: stores,
    log,
    call,
    stop,
    settle,
    async makeKey(scopes, more = {}) {
      const made = await call("POST", "/v1/keys", { body: { name: "a key", scopes: [...scopes], ...more } });
      return String(made.body.key);
    },
    async makeTenant(name) {
      const { body } = await call("POST", "/v1/tenants", { body: { name } });
      const id = String(body.id);
      const made = await call("POST", "/v1/keys", { body: { tenant: id, role: "admin" } });
      const key = String(made.body.key);
      await call("POST", "/v1/skills", { key, body: GREET });
      return { id, key };
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
