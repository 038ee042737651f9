/** The same attempts on the other backends: what each is meant to contain, it contains. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { createCommandFinder } from "../../src/host/find-command.ts";
import { chooseSandbox } from "../../src/sandbox/choose-sandbox.ts";
import { canBecomeNobody } from "../support/nobody.ts";
import type { Attempt } from "./escapes/attempt.ts";
import { attempts } from "./escapes/attempts.ts";
import { isPromised } from "./escapes/promises.ts";
import type { Report } from "./escapes/run-suite.ts";
import { type SuiteRequest, startAsNobody, startSuite } from "./escapes/start-suite.ts";

const PATIENCE_MS = 600_000;
const hasPython = existsSync("/usr/bin/python3") || process.env.METIER_REQUIRE_SANDBOX === "1";

/** sandbox-runtime does not hold root. */
const isRoot = process.getuid?.() === 0;
const { sandbox: interpreted } = await chooseSandbox({ backend: "just-bash", trust: "trusted" });

function promisedBy(backend: SuiteRequest["backend"]): readonly Attempt[] {
  return attempts.filter((attempt) => isPromised(backend, attempt));
}

function expectContained({ trials, isUnharmed }: Report, promised: readonly Attempt[]): void {
  expect(trials.filter(({ verdict }) => verdict !== "contained")).toEqual([]);
  expect(isUnharmed).toBe(true);
  expect(trials).toHaveLength(promised.length);
}

test.skipIf(!(interpreted && hasPython))(
  "just-bash contains what it is meant to",
  async () => {
    const report = await startSuite({ backend: "just-bash", promised: true });
    expectContained(
      report,
      promisedBy("just-bash").filter(({ program }) => program.language === "bash"),
    );
  },
  PATIENCE_MS,
);

test.skipIf(!(canStartRuntime() && hasPython))(
  "sandbox-runtime contains what it is meant to, started by an ordinary user",
  async () => {
    const request = { backend: "sandbox-runtime", promised: true } as const;
    const report = await (isRoot ? startAsNobody(request) : startSuite(request));
    expectContained(report, promisedBy("sandbox-runtime"));
  },
  PATIENCE_MS,
);

/** Its package comes with this repository, its programs may be missing. */
function canStartRuntime(): boolean {
  const find = createCommandFinder(process.env);
  return ["bwrap", "rg"].every((name) => find(name) !== undefined) && (!isRoot || canBecomeNobody());
}
