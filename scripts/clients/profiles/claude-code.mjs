import { join } from "node:path";
import { DUMMY_KEY } from "../profile.mjs";

/** @type {import("../profile.mjs").Profile} */
export const claudeCode = {
  id: "claude-code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.325",
  program: "claude",
  hasInstallScript: true,
  mcp: { config: "claude", tool: "mcp__metier__use_skill" },
  open: ({ name }) => ({ tool: "Skill", input: { skill: name } }),
  start: ({ url, mcp, home, prompt }) => ({
    files: mcp ? { "mcp.json": mcp } : {},
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: DUMMY_KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
    },
    args: [
      ...["--print", prompt, "--allowedTools", "Skill,mcp__metier__use_skill"],
      ...(mcp ? ["--strict-mcp-config", "--mcp-config", join(home, "mcp.json")] : []),
    ],
  }),
};
