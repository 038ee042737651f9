import { DUMMY_KEY, jsonWith } from "../profile.mjs";

/** @type {import("../profile.mjs").Profile} */
export const opencode = {
  id: "opencode",
  package: "opencode-ai",
  version: "1.18.33",
  program: "opencode",
  hasInstallScript: true,
  mcp: { config: "opencode", tool: "metier_use_skill" },
  open: ({ name }) => ({ tool: "skill", input: { name } }),
  start: ({ url, mcp, prompt }) => ({
    files: {
      ".config/opencode/opencode.json": jsonWith(
        {
          autoupdate: false,
          share: "disabled",
          model: "loopback/fake",
          provider: {
            loopback: {
              npm: "@ai-sdk/openai-compatible",
              options: { baseURL: `${url}/v1`, apiKey: DUMMY_KEY },
              models: { fake: {} },
            },
          },
        },
        mcp,
      ),
    },
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    },
    // Word by word: it quotes a word with spaces, and puts a backslash before quotes in it.
    args: ["run", ...prompt.split(" ")],
  }),
};
