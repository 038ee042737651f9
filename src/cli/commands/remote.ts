import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

export const remote: DeclaredCommand = defineCommand({
  name: "remote",
  group: "Connecting",
  brief: "See, refresh and approve the skills of MCP servers",
  description:
    "MCP servers (`[mcp.servers.LABEL]` in your config) offer skills as LABEL:NAME. `list` (the default) shows what is known\nof them without asking them, `refresh` asks them, `add` makes a skill known that a server's list lacks. Files are fetched\nand verified when a skill is used. `approve` trusts a skill as its server declares it now: until then its text can be\nread and followed, but nothing of it is executed; a change of any file ends it. `forget` takes approvals back and removes\nwhat was fetched. Exits 1 when there is no such skill, 5 when a server failed.",
  examples: [
    "metier remote",
    "metier remote refresh",
    "metier remote refresh docs --json",
    "metier remote add docs skill://acme/refunds/SKILL.md",
    "metier remote approve docs:refunds",
    "metier remote forget docs",
  ],
  positional: manyArguments(
    "action",
    "list, refresh [LABEL …], add LABEL URI, approve SKILL … or forget SKILL or LABEL",
  ),
  action: "remote",
});
