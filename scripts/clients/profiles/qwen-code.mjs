import { DUMMY_KEY, jsonWith } from "../profile.mjs";

/** @type {import("../profile.mjs").Profile} */
export const qwenCode = {
  id: "qwen-code",
  package: "@qwen-code/qwen-code",
  version: "0.24.4",
  program: "qwen",
  mcp: { config: "qwen", tool: "mcp__metier__use_skill" },
  open: ({ name }) => ({ tool: "skill", input: { skill: name } }),
  start: ({ url, mcp, prompt }) => ({
    files: {
      ".qwen/settings.json": jsonWith(
        {
          general: { enableAutoUpdate: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
        },
        mcp,
      ),
    },
    env: { OPENAI_API_KEY: DUMMY_KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "fake" },
    args: ["--auth-type", "openai", "--approval-mode", "yolo", prompt],
  }),
};
