/** System packages that a skill names and the machine lacks: a run says so, once, and goes on. */
import { expect } from "vitest";
import { createDebian, type DebianOptions } from "../support/debian.ts";
import { openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

async function diagnosticsOf(options: DebianOptions): Promise<readonly object[]> {
  const world = createWorld({ environment: { PATH: createDebian(options).path } });
  world.write({ "home/.metier/skills/pdf/SKILL.md": skill("pdf", "packages: [jq, poppler-utils, ffmpeg]") });
  const { run } = await openRuns(world, [says("Done.")]);
  const { result } = await run({ skill: "pdf" });
  expect(result.status).toBe("completed");
  return result.diagnostics.filter(
    ({ code }) => code === "packages.missing" || code === "invoke.not-honoured",
  );
}

verifies([31, 98], "a run warns of packages that are not installed, and runs", async () => {
  expect(await diagnosticsOf({ installed: ["jq"] })).toMatchObject([
    {
      severity: "warning",
      message: "`pdf` needs system packages that are not installed: `poppler-utils` and `ffmpeg`.",
      hint: expect.stringContaining("`metier setup pdf`"),
    },
  ]);
});

verifies(31, "a run whose packages are installed says nothing of them", async () => {
  expect(await diagnosticsOf({ installed: ["jq", "poppler-utils", "ffmpeg"] })).toEqual([]);
});

verifies(31, "where nobody can tell, a run says that", async () => {
  expect(await diagnosticsOf({ without: ["dpkg-query"] })).toMatchObject([
    { severity: "info", message: expect.stringContaining("without `dpkg-query`") },
  ]);
});
