/**
 * What a program imports, by the name of its file in `dist/`: `metier` and its subpaths. They are bundled together, so
 * that they share classes and state; `exports` of `package.json` and `tsconfig.build.json` name the same files.
 */
export const LIBRARY_ENTRIES = {
  index: "src/index.ts",
  "ai-sdk": "src/adapters/ai-sdk.ts",
  claude: "src/adapters/claude.ts",
  openai: "src/adapters/openai.ts",
  testing: "src/testing/index.ts",
  mcp: "src/mcp/index.ts",
};
