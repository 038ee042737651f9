import { expect, test } from "vitest";
import { findUndocumented } from "../../../scripts/build/api-comments.mjs";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";

test("[L12] a public name, a member, one inside it and one behind it that have no sentence are found", () => {
  const folder = temporaryFolder();
  writeTree(folder, {
    "entry.d.ts": 'export { type Said, type Unsaid, say } from "./parts.ts";\n',
    "parts.d.ts": [
      "interface Behind {",
      "    readonly hidden: string;",
      "}",
      "/** Has a sentence. */",
      "export interface Said extends Behind {",
      "    /** Has one, too. */",
      "    readonly told: string;",
      "    readonly untold: string;",
      "    /** What is inside has none. */",
      "    readonly error?: {",
      "        readonly code: string;",
      '        readonly kind: "literal";',
      "    };",
      "}",
      "export type Unsaid = string;",
      "/** Has a sentence. */",
      "export declare function say(): void;",
      "",
    ].join("\n"),
  });
  expect(findUndocumented(folder, "entry.d.ts")).toEqual([
    "Said.untold",
    "Said.code",
    "Unsaid",
    "Behind.hidden",
  ]);
});
