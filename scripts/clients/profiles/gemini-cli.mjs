import { DUMMY_KEY, jsonWith } from "../profile.mjs";

/** @type {import("../profile.mjs").Profile} */
export const geminiCli = {
  id: "gemini-cli",
  package: "@google/gemini-cli",
  version: "0.61.0",
  program: "gemini",
  mcp: { config: "gemini", tool: "mcp_metier_use_skill" },
  open: ({ name }) => ({ tool: "activate_skill", input: { name } }),
  start: ({ url, mcp, prompt }) => ({
    files: {
      ".gemini/settings.json": jsonWith(
        {
          general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
          security: { auth: { selectedType: "gemini-api-key" } },
        },
        mcp,
      ),
    },
    env: { GEMINI_API_KEY: DUMMY_KEY, GOOGLE_GEMINI_BASE_URL: url },
    args: ["--skip-trust", "--approval-mode", "yolo", "--model", "gemini-2.5-flash", "--prompt", prompt],
  }),
};
