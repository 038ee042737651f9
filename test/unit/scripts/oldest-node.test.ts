import { expect, test } from "vitest";
import { isSupported } from "../../../scripts/setup/pinned-node.mjs";
import { readRepositoryFile } from "../../support/repository.ts";

test("the oldest Node is the same in the package, the command and the set-up", () => {
  const { engines } = JSON.parse(readRepositoryFile("packages/metier/package.json")) as {
    engines: { node: string };
  };
  const oldest = engines.node.replace(">=", "");
  expect(readRepositoryFile("packages/metier/bin/metier.js")).toContain(`const OLDEST_NODE = "${oldest}";`);
  expect(readRepositoryFile("scripts/setup/pinned-node.mjs")).toContain(`const OLDEST = "${oldest}";`);
});

test("[U16] npm has nothing to warn of in a clone on Node 20, which brings its own Node", () => {
  expect(JSON.parse(readRepositoryFile("package.json")).engines).toEqual({ node: ">=20" });
});

test.each([
  ["20.20.2", false],
  ["22.17.9", false],
  ["22.18.0", true],
  ["23.0.0", true],
  ["26.10.0", true],
])("Node %s is supported: %s", (version, expected) => {
  expect(isSupported(version)).toBe(expected);
});
