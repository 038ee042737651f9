/**
 * What a program can import, by file name in `dist/`: `metier` and its subpaths. `exports` in
 * `packages/metier/package.json` and `paths` in `tsconfig.json` name the same files.
 */
export const LIBRARY_ENTRIES = {
  index: "packages/metier/src/index.ts",
  "ai-sdk": "packages/metier/src/ai-sdk.ts",
  claude: "packages/metier/src/claude.ts",
  openai: "packages/metier/src/openai.ts",
  langchain: "packages/metier/src/langchain.ts",
  mastra: "packages/metier/src/mastra.ts",
  testing: "packages/metier/src/testing.ts",
  mcp: "packages/metier/src/mcp.ts",
  skills: "packages/metier/src/skills.ts",
  run: "packages/metier/src/run.ts",
  install: "packages/metier/src/install.ts",
  capabilities: "packages/metier/src/capabilities.ts",
  publish: "packages/metier/src/publish.ts",
  durable: "packages/metier/src/durable.ts",
  compat: "packages/metier/src/compat.ts",
};
