import { UsageError } from "@metier/base/errors";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { checkHostVersion } from "../../src/adapters/host-version.ts";

/** A place in which the package is there in this version, three folders above. */
function placeWith(name: string, version: string): string {
  const folder = temporaryFolder();
  writeTree(folder, {
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, version }),
    "node_modules/metier/dist/index.js": "",
  });
  return `${folder}/node_modules/metier/dist`;
}

describe("a host that an adapter cannot work with [L13]", () => {
  test.each([
    ["ai-sdk", "ai", "5.0.277"],
    ["langchain", "langchain", "0.3.36"],
    ["mastra", "@mastra/core", "0.24.9"],
  ] as const)("metier/%s says so of %s %s", (adapter, name, version) => {
    const start = placeWith(name, version);
    expect(() => checkHostVersion(adapter, start)).toThrow(UsageError);
    expect(() => checkHostVersion(adapter, start)).toThrow(version);
    expect(() => checkHostVersion(adapter, start)).toThrow(`\`metier/${adapter}\` needs \`${name}\``);
  });

  test.each([
    ["ai-sdk", "ai", "6.0.326"],
    ["ai-sdk", "ai", "7.0.0-beta.3"],
    ["langchain", "langchain", "1.0.0"],
    ["mastra", "@mastra/core", "1.71.0"],
    ["openai", "@openai/agents", "0.20.0"],
    ["claude", "@anthropic-ai/claude-agent-sdk", "0.3.325"],
    ["ai-sdk", "ai", "workspace"],
    ["ai-sdk", "another", "1.0.0"],
  ] as const)("metier/%s takes %s %s", (adapter, name, version) => {
    const warn = vi.spyOn(process, "emitWarning");
    expect(() => checkHostVersion(adapter, placeWith(name, version))).not.toThrow();
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test("is only warned of where it is newer, or where the adapter has other uses", () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    checkHostVersion("ai-sdk", placeWith("ai", "9.1.0"));
    checkHostVersion("openai", placeWith("@openai/agents", "0.0.5"));
    expect(warn.mock.calls.map(([message]) => String(message))).toEqual([
      expect.stringContaining(" has 9.1.0"),
      expect.stringContaining(" has 0.0.5"),
    ]);
    warn.mockRestore();
  });
});
