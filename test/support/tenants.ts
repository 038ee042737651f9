/** Clients of `tenant-server.ts`: many users at once, each looking for what is not theirs, and some that go away. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What a client asks of the server. */
export interface TenantRequest {
  readonly user: string;
  /** Whose things it tries to reach. */
  readonly other: string;
  /** Whether it runs commands in the sandbox, too. */
  readonly commands: boolean;
  /** How long its model thinks first, so that as many runs are under way as there are clients. */
  readonly thinkMs: number;
  /** Its run comes to no end, at this place, before the client has gone away. */
  readonly hangs?: "model" | "command" | undefined;
}

/** What the server saw. */
export interface TenantReport {
  readonly faults: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
  readonly finished: number;
  readonly running: number;
  /** The most runs at the same time. */
  readonly most: number;
  /** Bytes, each time that nothing ran. */
  readonly heap: readonly number[];
}

export interface TenantServer {
  readonly url: string;
  report(): Promise<TenantReport>;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("./tenant-server.ts", import.meta.url));

export async function startTenantServer(root: string, users: number): Promise<TenantServer> {
  const args = ["--expose-gc", "--no-warnings", PROGRAM, root, String(users)];
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOME: root },
  });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  const url = `http://127.0.0.1:${String(port).trim()}`;
  return {
    url,
    report: async () => (await (await fetch(`${url}/report`)).json()) as TenantReport,
    async close() {
      const closed = once(child, "close");
      child.kill();
      await closed;
    },
  };
}

/** What is wrong with what one client received. */
export type Leaks = readonly string[];

/** One run, to its end or to the moment when the client goes away. */
export async function askAsTenant(url: string, request: TenantRequest): Promise<Leaks> {
  try {
    return findLeaks(await readRun(url, request), request);
  } catch (error) {
    return [`${request.user} was not answered: ${String(error)} (${String((error as Error).cause)})`];
  }
}

/** What reached the client. */
async function readRun(url: string, request: TenantRequest): Promise<string> {
  const gone = new AbortController();
  const query = new URLSearchParams({ request: JSON.stringify(request) });
  const response = await fetch(`${url}/run?${query}`, { signal: gone.signal });
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    // The tools are under way, or done and the model thinks.
    if (request.hangs === "command" ? text.includes('"tool-called"') : text.includes('"tool-finished"')) {
      if (request.hangs === undefined) continue;
      gone.abort();
      break;
    }
  }
  return text;
}

function findLeaks(text: string, { user, commands, hangs }: TenantRequest): Leaks {
  const foreign = [...text.matchAll(/canary-\w+-(u\d+)/g)].filter(([, whose]) => whose !== user);
  const key = createHash("sha256").update(`secret-of-${user}-0123456789`).digest("hex").slice(0, 16);
  const keys = [...text.matchAll(/canary-key-([0-9a-f]{16})/g)].filter(([, digest]) => digest !== key);
  const wanted = [
    ...["file", "who", "tool", "message"].map((kind) => `canary-${kind}-${user}`),
    ...(commands ? [`canary-key-${key}`, `canary-data-${user}`] : []),
  ];
  const missing = hangs ? [] : wanted.filter((mark) => !text.includes(mark));
  return [
    ...foreign.map(([mark]) => `${user} was told ${mark}`),
    ...keys.map(([mark]) => `${user} was told ${mark}`),
    ...(text.includes("secret-of-") ? [`${user} was told a secret`] : []),
    ...missing.map((mark) => `${user} was not told its own ${mark}`),
  ];
}
