import { expect, test } from "vitest";
import { reportFault } from "../src/run-cli.ts";

test.each([
  ["ENOSPC", "Make room, then try again."],
  ["EACCES", "Check the path and its permissions, then try again."],
])("what the system refused (%s) is no bug of Metier, and the hint says what to do", (code, hint) => {
  const fault = Object.assign(new Error(`${code}: no, write`), { code, syscall: "write" });
  const { record, text } = reportFault(fault);
  expect(record).toEqual({ code: "io.failed", message: `${code}: no, write`, hint });
  expect(text).toBe(`error: ${code}: no, write\n  → ${hint}\n`);
  expect(reportFault(new Error("odd")).text).toContain("This is a bug in Metier");
});
