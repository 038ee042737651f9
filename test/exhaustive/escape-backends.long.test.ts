/** The same attempts on the other backends: what each is meant to contain, it contains. */
import { createCommandFinder } from "@metier/base/programs";
import { chooseSandbox } from "@metier/sandbox";
import { expect, test } from "vitest";
import type { Attempt } from "../security/escapes/attempt.ts";
import { attempts } from "../security/escapes/attempts.ts";
import { isPromised } from "../security/escapes/promises.ts";
import type { Report } from "../security/escapes/run-suite.ts";
import { type SuiteRequest, startAsNobody, startSuite } from "../security/escapes/start-suite.ts";
import { ESCAPE_PATIENCE_MS, hasPython } from "../support/escape-attempts.ts";
import { canBecomeNobody } from "../support/nobody.ts";

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
  ESCAPE_PATIENCE_MS,
);

test.skipIf(!(canStartRuntime() && hasPython))(
  "sandbox-runtime contains what it is meant to, started by an ordinary user",
  async () => {
    const request = { backend: "sandbox-runtime", promised: true } as const;
    const report = await (isRoot ? startAsNobody(request) : startSuite(request));
    expectContained(report, promisedBy("sandbox-runtime"));
  },
  ESCAPE_PATIENCE_MS,
);

/** Its package comes with this repository, its programs may be missing. */
function canStartRuntime(): boolean {
  const find = createCommandFinder(process.env);
  return ["bwrap", "rg"].every((name) => find(name) !== undefined) && (!isRoot || canBecomeNobody());
}
