/**
 * The real node-llama-cpp on real GGUF files, where it is there: beside Metier, or where `METIER_GGUF_PACKAGE` says.
 * `npm run test:gguf` fetches it first; this test downloads nothing.
 */
import { join } from "node:path";
import { describe, test } from "vitest";
import { type GgufKind, ggufCases } from "../../../../test/support/gguf-cases.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { writeTinyGguf } from "../../../../test/support/tiny-gguf.ts";
import { findGgufLibrary } from "../../src/model/gguf/gguf-library.ts";
import { openGguf } from "../../src/model/gguf/open-gguf.ts";

const library = findGgufLibrary(process.env.METIER_GGUF_PACKAGE);

const START = "assistant\n";
const WORDS = [START, "\n", "Hello", " from", " a", " file", ".", "||call: "];
const SENTENCE = [
  ["Hello", " from"],
  [" from", " a"],
  [" a", " file"],
  [" file", "."],
  [".", "<|im_end|>"],
] as const;

/** Which token follows which: in a call the grammar leaves a choice only inside the text, and for `null`. */
const FOLLOWS: Readonly<Record<GgufKind, readonly (readonly [string, string])[]>> = {
  hello: [[START, "Hello"], ...SENTENCE],
  caller: [[START, "||call: "], ['"', "i"], ["i", "t"], ["t", '"'], [" ", "n"], ["\n", "Hello"], ...SENTENCE],
  endless: [
    [START, "Hello"],
    ["Hello", "Hello"],
  ],
};

/** On a busy machine it is slow: its threads wait for each other. */
const TIME_LIMIT_MS = 600_000;

describe("the real node-llama-cpp", { timeout: TIME_LIMIT_MS }, () => {
  if (!library.ok) {
    test("is not here", (context) => context.skip(`${library.refusal.message} See npm run test:gguf.`));
    return;
  }
  ggufCases(
    (kind) => {
      const path = join(temporaryFolder(), `${kind}.gguf`);
      writeTinyGguf(path, { words: WORDS, follows: FOLLOWS[kind] });
      return { path, package: library.value.folder };
    },
    async (place) => {
      const opened = await openGguf({ provider: "gguf", ...place }, "models.default", { environment: {} });
      if (!opened.ok) throw new Error(opened.refusal.message);
      return opened.value;
    },
  );
});
