/** The same attempts on the other backends: what each is meant to contain, it contains. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { chooseSandbox } from "../../src/sandbox/choose-sandbox.ts";
import { attempts } from "./escapes/attempts.ts";
import { isPromised } from "./escapes/promises.ts";
import { startSuite } from "./escapes/start-suite.ts";

const PATIENCE_MS = 600_000;
const hasPython = existsSync("/usr/bin/python3") || process.env.METIER_REQUIRE_SANDBOX === "1";

for (const backend of ["sandbox-runtime", "just-bash"] as const) {
  const { sandbox } = await chooseSandbox({ backend, trust: "trusted" });

  test.skipIf(!(sandbox && hasPython))(
    `${backend} contains what it is meant to`,
    async () => {
      const { trials, isUnharmed } = await startSuite({ backend, promised: true });
      expect(trials.filter(({ verdict }) => verdict !== "contained")).toEqual([]);
      expect(isUnharmed).toBe(true);
      const promised = attempts.filter((attempt) => isPromised(backend, attempt));
      const possible = promised.filter(({ program }) => sandbox?.runsPrograms || program.language === "bash");
      expect(trials).toHaveLength(possible.length);
    },
    PATIENCE_MS,
  );
}
