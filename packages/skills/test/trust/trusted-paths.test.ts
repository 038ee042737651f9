import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { resolveTrustedPaths } from "../../src/trust/grants.ts";

test("trusted paths are taken by where they really lead, and a missing one is reported", () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "real"));
  symlinkSync(join(root, "real"), join(root, "link"));
  const missing = join(root, "missing");
  expect(resolveTrustedPaths([join(root, "link"), missing])).toMatchObject({
    paths: [join(root, "real")],
    diagnostics: [{ code: "trust.path-missing", path: missing }],
  });
});
