/** What one Metier serves over MCP, another one lists, verifies, approves and reads: the same content on both sides. */
import { fileURLToPath } from "node:url";
import { identifyContent } from "@metier/skills/trust";
import { expect, test } from "vitest";
import { createWorld, skill } from "../support/world.ts";

const MAIN = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));

test("a codeword travels from a skill of one Metier to the model of another", async () => {
  const [giver, taker] = [createWorld(), createWorld()];
  giver.write({
    "home/.metier/skills/tide/SKILL.md": skill(
      "tide",
      "metadata: { area: sea }",
      "The codeword is pelican-9.",
    ),
    "home/.metier/skills/tide/references/moon & sun.md": "Both pull.\n",
  });
  const command = [
    process.execPath,
    "--no-warnings",
    MAIN,
    "mcp",
    "--home",
    giver.home,
    "--cwd",
    giver.project,
  ];
  taker.write({ "home/.metier/config.toml": `[mcp.servers.sea]\ncommand = ${JSON.stringify(command)}\n` });
  const metier = await taker.metier();
  const [refreshed] = await metier.remote.refresh();
  expect(refreshed).toMatchObject({ label: "sea", ok: true, refused: [] });
  await metier.remote.approve("sea:tide");
  expect((await metier.getInstructions("sea:tide")).text).toContain("pelican-9");
  expect(metier.readResource("sea:tide", "references/moon & sun.md").text).toBe("Both pull.\n");
  const original = identifyContent((await giver.metier()).require("tide"));
  expect(original).toMatchObject({
    ok: true,
    value: { digest: metier.require("sea:tide").remote?.digest },
  });
});
