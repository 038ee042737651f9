import { DUMMY_KEY } from "../profile.mjs";

/** @type {import("../profile.mjs").Profile} */
export const codex = {
  id: "codex",
  package: "@openai/codex",
  version: "0.166.0",
  program: "codex",
  mcp: { config: "codex", tool: "mcp__metier__use_skill" },
  // It has no tool for skills: its model reads the listed file.
  open: ({ file }) => ({ tool: "exec_command", input: { cmd: `cat '${file}'` } }),
  start: ({ url, mcp, prompt }) => ({
    files: {
      ".codex/config.toml": [
        'model = "fake"',
        'model_provider = "loopback"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"', // it already runs in a sandbox
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        "[model_providers.loopback]",
        'name = "loopback"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "LOOPBACK_KEY"',
        mcp ?? "",
      ].join("\n"),
    },
    env: { LOOPBACK_KEY: DUMMY_KEY },
    args: ["exec", "--skip-git-repo-check", prompt],
  }),
};
