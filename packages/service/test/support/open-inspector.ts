/** An inspector over a world's home, with a model that follows a script, and a browser that came in by its printed address. */
import { join } from "node:path";
import { createScriptModel, type Script } from "@metier/run/model";
import { createMetier } from "@metier/runtime";
import { startInspect } from "@metier/service";
import { allowForGood } from "@metier/skills/config";
import { expect, onTestFinished } from "vitest";
import type { World } from "../../../../test/support/world.ts";
import { type Browser, openBrowser } from "./browser.ts";

export interface TestInspector {
  readonly url: string;
  readonly browser: Browser;
  readonly noRuns: string | undefined;
  readonly log: readonly string[];
  makeAddress(): string;
  stop(): Promise<void>;
}

interface InspectorOptions {
  readonly script?: Script;
  readonly config?: Readonly<Record<string, unknown>>;
  /** `--allow-edit`. */
  readonly allowEdit?: boolean;
}

const PAGE = { body: "<!doctype html>", type: "text/html", cache: "revalidate" } as const;

export async function openInspector(
  world: World,
  { script = [], config = {}, allowEdit = false }: InspectorOptions = {},
): Promise<TestInspector> {
  const environment = { PATH: process.env.PATH };
  const log: string[] = [];
  const started = await startInspect({
    home: world.home,
    cwd: world.project,
    environment,
    caller: { userId: "ada", isLocal: true, chatType: "private", chatId: "inspect" },
    printLog: (line) => void log.push(line),
    page: { find: (path) => (path === "index.html" ? PAGE : undefined) },
    ...(allowEdit && {
      rules: {
        mayEdit: () => true,
        allow: (patterns: readonly string[]) =>
          allowForGood(join(world.home, ".metier", "config.toml"), patterns),
      },
    }),
    open: (more) =>
      createMetier({
        home: world.home,
        cwd: world.project,
        environment,
        trust: "grants",
        models: { default: createScriptModel(script) },
        config,
        ...more,
      }),
  });
  if (!started.ok) throw new Error(started.refusal.message);
  const { address, makeAddress, noRuns, stop } = started.value;
  onTestFinished(() => stop());
  const { origin, pathname, search } = new URL(address);
  const browser = openBrowser(origin);
  expect((await browser.send("GET", pathname + search)).status).toBe(303);
  browser.csrf = String((await browser.send("GET", "/v1/me")).body.csrf);
  return { url: origin, browser, makeAddress, noRuns, log, stop };
}
