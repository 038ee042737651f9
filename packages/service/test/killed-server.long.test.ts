/** A server that is killed under open streams: when it is back, they go on, and nobody misses an event or sees one twice. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ADMIN_KEY, followEvents, type SeenEvents, upTo } from "../../../test/support/follow-events.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";

const PROGRAM = join(import.meta.dirname, "support", "service-process.ts");
const STREAMS = 100;
const KILLS = 3;

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startServer(folder: string, port: string): Promise<Server> {
  const child = spawn(process.execPath, [PROGRAM, folder, port], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  return { child, url: String(line).trim() };
}

/** Comes again, as a browser does, until the server says that there is nothing more. */
async function followToEnd(url: string, seen: SeenEvents): Promise<void> {
  for (;;) {
    try {
      const status = await followEvents(url, seen, { after: seen.ids.at(-1) });
      if (status === 204 || seen.types.at(-1) === "run-finished") return;
    } catch {
      // The server is away.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test(`${STREAMS} streams over ${KILLS} kills of the server: 0 events missing, 0 double`, {
  timeout: 180_000,
}, async () => {
  const folder = temporaryFolder();
  let server = await startServer(folder, "0");
  const { url } = server;
  const { port } = new URL(url);
  const started = await fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ skill: "greet", message: "say 400" }),
  });
  const { id } = (await started.json()) as { readonly id: string };
  const seen: readonly SeenEvents[] = upTo(STREAMS).map(() => ({ ids: [], types: [] }));
  const streams = seen.map((one) => followToEnd(`${url}/v1/runs/${id}/events`, one));
  for (const kill of upTo(KILLS)) {
    while (seen.some(({ ids }) => ids.length < kill * 60))
      await new Promise((resolve) => setTimeout(resolve, 10));
    server.child.kill("SIGKILL");
    await once(server.child, "exit");
    server = await startServer(folder, port);
  }
  await Promise.all(streams);
  for (const { ids } of seen) expect(ids).toEqual(upTo(402));
});
