import { expect, test } from "vitest";
import { diagnosticText } from "../src/output/diagnostics.ts";
import { styleFor } from "../src/output/style.ts";

const DIAGNOSTIC = { code: "toolset.not-loaded", severity: "warning", path: "a/SKILL.md", line: 3 } as const;

test("a diagnostic is one line with its place and code, and its hint below", () => {
  const text = diagnosticText({ ...DIAGNOSTIC, message: "It failed.", hint: "Mend it." }, styleFor(false));
  expect(text).toBe("a/SKILL.md:3  warning  It failed.  toolset.not-loaded\n    → Mend it.");
});

test("what a program said stands below, marked, and writes nothing else to the terminal", () => {
  const message = "It ended. It said:\nfirst\r\nb/SKILL.md  error  \u001b[31mfake\rgone";
  expect(diagnosticText({ ...DIAGNOSTIC, message }, styleFor(false)).split("\n")).toEqual([
    "a/SKILL.md:3  warning  It ended. It said:  toolset.not-loaded",
    "    | first",
    "    | b/SKILL.md  error  \ufffd[31mfake\ufffdgone",
  ]);
});
