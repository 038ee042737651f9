/** `metier serve` in a process of its own, over a test's home, with the admin key of the tests; ended with the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Json, JsonObject } from "@metier/base/json";
import { onTestFinished } from "vitest";
import { COMPILED_CODE } from "./compiled-code.ts";
import { ADMIN_KEY } from "./follow-events.ts";
import { ROOT } from "./repository.ts";

export interface ServeReply {
  readonly status: number;
  readonly body: JsonObject & { readonly data?: readonly JsonObject[]; readonly error?: JsonObject };
  readonly text: string;
}

export interface ServeProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** All that it wrote to its terminal. */
  readonly output: readonly string[];
  call(method: string, path: string, body?: Json, key?: string): Promise<ServeReply>;
  /** Polls until the run has one of these statuses. */
  settle(runId: string, ...statuses: readonly string[]): Promise<JsonObject>;
  kill(): Promise<void>;
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
  const program = join(ROOT, "packages", "metier", "bin", "metier.js");
  const args = ["serve", "--home", home, "--port", port, "--lease", String(lease), "--log", ...flags];
  const child = spawn(process.execPath, [program, ...args], {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...COMPILED_CODE,
      PATH: process.env.PATH,
      HOME: home,
      METIER_ADMIN_KEY: ADMIN_KEY,
      ...environment,
    },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output: string[] = [];
  createInterface(child.stdout).on("line", (line) => output.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on("line", (line) => {
      output.push(line);
      const [, address] = /^Serving at (\S+)\. /.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once("exit", (code) =>
      reject(new Error(`\`metier serve\` ended with ${code}: ${output.join("\n")}`)),
    );
  });
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
    url,
    child,
    output,
    call,
    async settle(runId, ...statuses) {
      for (;;) {
        const { body } = await call("GET", `/v1/runs/${runId}`);
        if (statuses.includes(String(body.status))) return body;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async kill() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
