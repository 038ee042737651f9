import { expect, test } from "vitest";
import { describeTries } from "../../../scripts/clients/describe-tries.mjs";

const PASSED = { home: true, project: true, opened: true, mcp: true, ms: 840 };
const { mcp: _mcp, ...WITHOUT_MCP } = PASSED;

test("the table says of each client what it did, or why it was not tried", () => {
  const table = describeTries([
    { name: "alpha 1.0.0", outcome: { result: PASSED } },
    { name: "beta 2.0.0", outcome: { result: WITHOUT_MCP } },
    { name: "gamma 3.0.0", outcome: { skipped: "it can't be started: no such file\nand more" } },
  ]);
  expect(table).toBe(
    [
      "client       skill in home  skill in project  opened  use_skill by MCP  time",
      "alpha 1.0.0  listed         listed            yes     yes               0.8 s",
      "beta 2.0.0   listed         listed            yes     speaks no MCP     0.8 s",
      "gamma 3.0.0  skipped: it can't be started: no such file",
      "",
    ].join("\n"),
  );
});

test("what a client that failed said stands below the table", () => {
  const result = { ...PASSED, home: false, mcp: false };
  const table = describeTries([
    { name: "alpha 1.0.0", outcome: { result, fault: "POST /v1/messages 400" } },
    { name: "beta 2.0.0", outcome: { fault: "`metier install` failed" } },
  ]);
  expect(table).toContain("alpha 1.0.0  NOT LISTED     listed            yes     NO                0.8 s\n");
  expect(table).toContain("beta 2.0.0   FAILED\n");
  expect(table).toContain("\n\nalpha 1.0.0 failed:\nPOST /v1/messages 400\n");
  expect(table).toContain("\n\nbeta 2.0.0 failed:\n`metier install` failed\n");
});
