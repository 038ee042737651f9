/** Holds the names of an embedding program's tools to what providers, policies and logs rely on: known, and one of a kind. */
import { UsageError } from "../foundation/errors.ts";
import { showValue } from "../validate/report.ts";
import type { Tool } from "./tool.ts";
import { TOOL_NAMES } from "./tool-names.ts";

const PLAIN = /^[a-z][a-z0-9_]{0,63}$/;
/** `skill__tool`, or one that was shortened and ends in a digest (`own-tools.ts`). */
const OWNED = /^(?=.{1,64}$)[a-zA-Z0-9_-]+(?:__[a-zA-Z0-9_-]+|_[0-9a-f]{8})$/;
const OURS: ReadonlySet<string> = new Set(TOOL_NAMES);

export function checkProgramTools(tools: readonly Pick<Tool, "name">[]): void {
  const seen = new Set<string>();
  for (const { name } of tools) {
    const shown = showValue(String(name));
    if (typeof name !== "string" || !(PLAIN.test(name) || OWNED.test(name))) {
      throw new UsageError(`A tool is called ${shown}, which is no name of a tool.`, {
        hint: "Allowed are `a-z`, `0-9` and `_`, a letter first, at most 64 characters; or `skill__tool`.",
      });
    }
    if (OURS.has(name)) {
      throw new UsageError(`A tool is called ${shown}, which is one of Metier's own.`, {
        hint: `Give it another name than ${TOOL_NAMES.map((own) => `\`${own}\``).join(", ")}.`,
      });
    }
    if (seen.has(name)) {
      throw new UsageError(`Two tools are called ${shown}.`, {
        hint: "Give one of them another name; those of `createMetier` and those of a call count together.",
      });
    }
    seen.add(name);
  }
}
