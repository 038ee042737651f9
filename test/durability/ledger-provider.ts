/**
 * What the capability calls of the durability suite act on: a file outside of every run, one line for each change. A line is
 * appended whole or not at all. `set` is idempotent by its key, as it promises; `add` writes a line whenever it is asked.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { answerWith, type CapabilityProvider } from "@metier/capabilities";

const TEXT = { type: "object", required: ["text"], properties: { text: { type: "string" } } };
const CHANGE = { mutating: true, requires_auth: false, input_schema: TEXT };
const DEFINITIONS = [
  {
    id: "ledger.book",
    description: "Lines in a book.",
    operations: [
      { name: "add", description: "Adds a line.", ...CHANGE },
      { name: "set", description: "Makes sure that a line is there.", idempotent: true, ...CHANGE },
      { name: "read", description: "All lines.", requires_auth: false },
    ],
  },
];
/** So that kills come before and after the change, and before the answer. */
const PAUSE_MS = 20;
const HELD_MS = 120_000;

export function createLedger(root: string): CapabilityProvider {
  return {
    namespace: "ledger",
    definitions: async () => answerWith(DEFINITIONS),
    async invoke({ operation, input, idempotencyKey = "" }) {
      if (operation === "read") return answerWith({ lines: [...readLedger(root)] });
      const line = `${operation} ${input.text}`;
      await wait(PAUSE_MS);
      const isMade = readEntries(root).includes(`${line}\t${idempotencyKey}`);
      if (operation === "add" || !isMade) appendFileSync(fileOf(root), `${line}\t${idempotencyKey}\n`);
      await wait(existsSync(holdFile(root, line)) ? HELD_MS : PAUSE_MS);
      return answerWith({ line });
    },
    authBegin: () => Promise.reject(new Error("Nobody signs in to a ledger.")),
  };
}

/** While this file is there, the provider does not answer after it has made that change. */
export function holdFile(root: string, line: string): string {
  return join(root, `hold ${line}`);
}

/** The changes that were made, in order. Who asks under a key while another does is told the same: one change. */
export function readLedger(root: string): readonly string[] {
  const isFirst = (entry: string, at: number, all: readonly string[]): boolean =>
    !entry.startsWith("set ") || all.indexOf(entry) === at;
  return readEntries(root)
    .filter(isFirst)
    .map((entry) => entry.replace(/\t.*$/, ""));
}

function readEntries(root: string): readonly string[] {
  return existsSync(fileOf(root)) ? readFileSync(fileOf(root), "utf8").split("\n").filter(Boolean) : [];
}

function fileOf(root: string): string {
  return join(root, "ledger.txt");
}
