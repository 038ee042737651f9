import { DUMMY_KEY } from "../profile.mjs";

/** @type {import("../profile.mjs").Profile} */
export const pi = {
  id: "pi",
  package: "@earendil-works/pi-coding-agent",
  version: "0.87.1",
  program: "pi",
  mcp: undefined,
  // It has no tool for skills: its model reads the listed file.
  open: ({ file }) => ({ tool: "read", input: { path: file } }),
  start: ({ url, prompt }) => ({
    files: {
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          loopback: {
            baseUrl: `${url}/v1`,
            api: "openai-completions",
            apiKey: DUMMY_KEY,
            models: [{ id: "fake" }],
          },
        },
      }),
    },
    env: { PI_OFFLINE: "1" },
    // Without `--approve` it reads no project skills.
    args: ["--approve", "--provider", "loopback", "--model", "fake", "--print", prompt],
  }),
};
