/** `metier serve` and `metier worker` in processes of their own, over a test's home, with the admin key of the tests. */
import type { Json, JsonObject } from "@metier/base/json";
import { ADMIN_KEY } from "./follow-events.ts";
import { type MetierProcess, startMetier } from "./metier-process.ts";

export interface ServeReply {
  readonly status: number;
  readonly body: JsonObject & { readonly data?: readonly JsonObject[]; readonly error?: JsonObject };
  readonly text: string;
}

export interface ServeProcess extends MetierProcess {
  call(method: string, path: string, body?: Json, key?: string): Promise<ServeReply>;
  /** Polls until the run has one of these statuses. */
  settle(runId: string, ...statuses: readonly string[]): Promise<JsonObject>;
}

interface ServeOptions {
  /** Default: any that is free. */
  readonly port?: string;
  readonly lease?: number;
  /** More flags. */
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startServe(
  home: string,
  { port = "0", lease = 2, flags = [], environment = {} }: ServeOptions = {},
): Promise<ServeProcess> {
  const served = await startMetier({
    home,
    args: ["serve", "--home", home, "--port", port, "--lease", String(lease), "--log", ...flags],
    environment: { METIER_ADMIN_KEY: ADMIN_KEY, ...environment },
    ready: /^Serving at (\S+)\. /,
  });
  const { url } = served;
  const call: ServeProcess["call"] = async (method, path, body, key = ADMIN_KEY) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    return { status: response.status, text, body: isJson ? JSON.parse(text) : {} };
  };
  return {
    ...served,
    call,
    async settle(runId, ...statuses) {
      for (;;) {
        const { body } = await call("GET", `/v1/runs/${runId}`);
        if (statuses.includes(String(body.status))) return body;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

/** `metier worker`, likewise. */
export async function startWork(
  home: string,
  { port = "0", lease = 2, flags = [], environment = {} }: ServeOptions = {},
): Promise<MetierProcess> {
  return startMetier({
    home,
    args: ["worker", "--home", home, "--port", port, "--lease", String(lease), "--log", ...flags],
    environment,
    ready: /^Working\. Probes and metrics are at (\S+)\. /,
  });
}
