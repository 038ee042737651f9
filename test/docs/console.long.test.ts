/**
 * The sessions that pages show (`console` blocks) are real: each command succeeds and prints what stands below it.
 * `METIER_SHOWN=write` puts what they print now into the pages; look at the difference before you commit it.
 */
import { createCommandFinder } from "@metier/base/programs";
import { expect, test } from "vitest";
import { codeBlocks, type Document, readDocuments } from "../support/documents.ts";
import { sandboxTest } from "../support/sandbox.ts";
import { hasSession, isAsShown, runSession, writeSession } from "../support/shown-session.ts";
import { makeWorkplace } from "../support/workplace.ts";

const documents = readDocuments().filter(hasSession);

test("there are some", () => {
  expect(documents.length).toBeGreaterThan(10);
});

/** Programs that pages use and a machine may lack. */
const findCommand = createCommandFinder(process.env);
const missing = ["curl", "jq", "openssl"].filter((name) => findCommand(name) === undefined);

function lacks(document: Document): string | undefined {
  const sessions = codeBlocks(document).filter(({ info }) => info === "console");
  return missing.find((name) => sessions.some(({ code }) => new RegExp(`\\b${name} `).test(code)));
}

for (const document of documents) {
  const program = lacks(document);
  if (program !== undefined) {
    test.skip(`the session of ${document.path} needs ${program}`, () => undefined);
    continue;
  }
  sandboxTest(`the session of ${document.path} runs and prints what is shown`, () => {
    const outcomes = runSession(document, makeWorkplace());
    if (process.env.METIER_SHOWN === "write") writeSession(document, outcomes);
    for (const { command, line, shown, status, output } of outcomes) {
      const seen = isAsShown(shown, output) ? shown : output;
      expect({ command, line, status, printed: seen }).toEqual({
        command,
        line,
        status: "0",
        printed: shown,
      });
    }
  });
}

test("`…` stands for the rest of a line, or for lines", () => {
  expect(isAsShown("took … ms\n…\ndone", "took 12 ms\na\nb\ndone")).toBe(true);
  expect(isAsShown("took … ms\n…\ndone", "took 12 ms\ndone")).toBe(true);
  expect(isAsShown("took … ms", "took 12 s")).toBe(false);
  expect(isAsShown("", "something")).toBe(false);
});
