/** A service with the inspector's page over a home of its own: real runs in the sandbox, with a model that does as it is told. */
import { readPage } from "@metier/inspector";
import { startLocalService } from "@metier/service";
import { onTestFinished } from "vitest";
import { type OpenedPage, openPage } from "./chromium.ts";
import { ADMIN_KEY } from "./follow-events.ts";
import { type Asked, createTalkingModel, type Said } from "./talking-model.ts";
import type { World } from "./world.ts";

interface InspectedOptions {
  readonly port?: number;
  /** Beside what it always has. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the skills that come with Metier are there. Default: no. */
  readonly isBundled?: boolean;
  /** The model's answers. Default: what stands behind `run:` in the message is run by bash, then it says it is done. */
  answer?(asked: Asked): Said | string;
}

export interface Inspected {
  readonly url: string;
  stop(): Promise<void>;
  /** By key; as an admin, unless another one is given. */
  call<Value>(method: string, path: string, body?: object, key?: string): Promise<Value>;
  /** A new browser, signed in (as an admin, unless another key is given), at this address of the page. */
  open(address: string, options?: OpenOptions): Promise<OpenedPage>;
}

type OpenOptions = Parameters<typeof openPage>[0] & { readonly key?: string };

export async function inspect(
  world: World,
  { port, environment, isBundled = false, answer = doAsTold }: InspectedOptions = {},
): Promise<Inspected> {
  const started = await startLocalService({
    home: world.home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY, ...environment },
    metier: { models: { default: createTalkingModel(answer) }, bundled: isBundled },
    times: { sweepMs: 50 },
    page: readPage(),
    evalFolders: [world.project],
    ...(port !== undefined && { port }),
  });
  if (!started.ok) throw new Error(started.refusal.message);
  const { url, stop } = started.value;
  onTestFinished(() => stop(1_000));
  return {
    url,
    stop: () => stop(500),
    async call<Value>(method: string, path: string, body?: object, key = ADMIN_KEY) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await response.json()) as Value;
    },
    async open(address, { key = ADMIN_KEY, ...options } = {}) {
      const opened = await openPage(options);
      onTestFinished(() => opened.context.close());
      await signIn(opened, url, key);
      await opened.page.goto(`${url}/#${address}`);
      return opened;
    },
  };
}

/** As a person does it. */
async function signIn({ page }: OpenedPage, url: string, key: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Skills", level: 1 }).waitFor();
}

/** `Please run: ls -l` */
function doAsTold({ user, results }: Asked): Said | string {
  const [, command] = /run: (.+)/.exec(user) ?? [];
  if (command === undefined) return "Nothing was asked for.";
  return results.length === 0
    ? { calls: [{ tool: "bash", input: { command } }] }
    : `Done: ${results[0]?.trim()}`;
}
