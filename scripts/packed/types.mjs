/**
 * Programs that compile against the installed package: each TypeScript version, strict, with declarations checked, in
 * each resolution mode.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../setup/repository.mjs";
import { CURRENT_NODE, makeProject, nodeProgram, row, run, tool } from "./toolbox.mjs";

const VERSIONS = ["5.6.3", "5.7.3", "5.8.3", "5.9.3", "6.0.3", "7.0.2"];
const NODE_TYPES = "22.20.5";

const SUBPATHS = Object.keys(
  JSON.parse(readFileSync(join(ROOT, "packages/metier/package.json"), "utf8")).exports,
).filter((path) => path.startsWith("./") && !path.includes("*") && !path.endsWith(".json"));

/** Every subpath, and what a program does first: a tool, a model, a run, and a mistake that must not compile. */
const USE = `
import { createMetier, createScriptedModel, defineSkill, defineTool, type Metier, type RunResult } from "metier";
${SUBPATHS.map((path, index) => `import * as part${index} from "metier${path.slice(1)}";`).join("\n")}
export const parts = [${SUBPATHS.map((_path, index) => `part${index}`).join(", ")}];
const tool = defineTool({
  name: "double",
  description: "Doubles a number.",
  input: { type: "object", properties: { n: { type: "number" } } },
  effect: "read",
  execute: (_input, { caller }) => caller.userId ?? "",
});
export async function use(): Promise<string> {
  const model = createScriptedModel([{ answer: { text: "Hi." } }]);
  const metier: Metier = await createMetier({ bundled: true, tools: [tool], models: { default: model } });
  const result: RunResult = await metier.run({ skill: "summarize-text" });
  const run = metier.start({ skill: "summarize-text" });
  for await (const event of run.events) if (event.type === "tool-finished") console.log(event.text, event.isError);
  for await (const event of run.clientEvents()) if (event.type === "text-delta") console.log(event.text);
  const view = metier.for({ userId: "ada" });
  const { object } = await view.run({ skill: "summarize-text", output: { type: "object", properties: { n: { type: "number" } } } });
  console.log(object?.n?.toFixed());
  // @ts-expect-error: \`contxt\` is no field of a skill
  defineSkill({ name: "a", description: "A.", instructions: "A.", contxt: "fork" });
  // @ts-expect-error: there is no such option
  await createMetier({ modles: {} });
  return result.text;
}
`;

const STRICT = {
  target: "es2022",
  lib: ["es2023"],
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
};

/** @type {Record<string, { file: string, options: Record<string, unknown> }>} */
const WAYS = {
  "nodenext, ESM": { file: "use.mts", options: { module: "nodenext", moduleResolution: "nodenext" } },
  "nodenext, CommonJS": { file: "use.cts", options: { module: "nodenext", moduleResolution: "nodenext" } },
  bundler: { file: "use.ts", options: { module: "esnext", moduleResolution: "bundler" } },
};

/** @param {import("./toolbox.mjs").Workshop} workshop */
export function* tryTypes(workshop) {
  const files = Object.fromEntries(
    Object.entries(WAYS).flatMap(([, { file, options }]) => [
      [file, USE],
      [`${file}.json`, JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: [file] })],
    ]),
  );
  const packages = { "@types/node": NODE_TYPES };
  const project = makeProject(workshop, "types", { files, packages });
  const node = nodeProgram(workshop, CURRENT_NODE);
  for (const version of VERSIONS) {
    const tsc = join(tool(workshop, "typescript", version), "bin", "tsc");
    for (const [way, { file }] of Object.entries(WAYS)) {
      yield row(`TypeScript ${version}, ${way}`, () => {
        const { ok, output } = run(node, [tsc, "-p", `${file}.json`], { cwd: project });
        return ok ? undefined : output.slice(0, 1500);
      });
    }
  }
}
