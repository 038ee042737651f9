/**
 * A Next.js server with one route, built as standalone, moved to another folder and queried there: with Metier
 * bundled, the Next.js default, and left out by `serverExternalPackages`.
 */
import { cpSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { findPaths } from "./bundles.mjs";
import { APP } from "./node-projects.mjs";
import { CURRENT_NODE, judge, makeProject, nodeProgram, row, run } from "./toolbox.mjs";

const PACKAGES = { next: "16.4.6", react: "19.3.1", "react-dom": "19.3.1" };

const ROUTE = `
import { tryMetier } from "../../try-metier.mjs";
export const dynamic = "force-dynamic";
export async function GET() {
  return Response.json(await tryMetier(process.env.TRY_SKILLS, process.env.TRY_HOME));
}
`;

const LAYOUT = "export default ({ children }) => <html><body>{children}</body></html>;\n";

/** Starts the server, queries it once, prints the answer and stops it. */
const ASK = `
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
const probe = createServer().listen(0, "127.0.0.1");
await once(probe, "listening");
const { port } = probe.address();
probe.close();
const env = { ...process.env, PORT: String(port), HOSTNAME: "127.0.0.1" };
const server = spawn(process.execPath, ["server.js"], { env, stdio: ["ignore", 2, 2] });
const until = Date.now() + 120_000;
let answer;
while (answer === undefined && Date.now() < until && server.exitCode === null) {
  answer = await fetch("http://127.0.0.1:" + port + "/try").catch(() => undefined);
  if (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 200));
}
const text = await answer?.text();
server.kill();
console.log(text);
process.exitCode = answer?.ok ? 0 : 1;
`;

/** @type {Record<string, string>} */
const WAYS = { bundled: "", serverExternalPackages: ', serverExternalPackages: ["metier"]' };

/** @param {import("./toolbox.mjs").Workshop} workshop */
export function* tryNext(workshop) {
  const node = nodeProgram(workshop, CURRENT_NODE);
  for (const [way, options] of Object.entries(WAYS)) {
    const files = {
      "try-metier.mjs": APP["try-metier.mjs"],
      "app/try/route.js": ROUTE,
      "app/layout.jsx": LAYOUT,
      "next.config.mjs": `export default { output: "standalone", outputFileTracingRoot: import.meta.dirname${options} };\n`,
    };
    const project = makeProject(workshop, `next-${way}`, { packages: PACKAGES, files });
    const moved = join(workshop.folder, `moved-next-${way}`);
    const label = `Next.js ${PACKAGES.next}, ${way}`;
    const made = row(`${label}: build`, () => {
      const args = [join(project, "node_modules/next/dist/bin/next"), "build"];
      const env = { NEXT_TELEMETRY_DISABLED: "1" };
      const { ok, output } = run(node, args, { cwd: project, env, timeout: 10 * 60_000 });
      if (!ok) return output.slice(-2000);
      mkdirSync(moved);
      cpSync(join(project, ".next/standalone"), moved, { recursive: true, verbatimSymlinks: true });
      renameSync(project, `${project}-away`);
      // The config that Next.js itself writes there names the folder; Metier's own files must not.
      const chunks = join(moved, ".next/server/chunks");
      return readdirSync(chunks).length === 0 ? "It has no chunks." : findPaths(chunks, project);
    });
    yield made;
    if (made.problem !== undefined) continue;
    yield row(`${label}: moved, on Node ${CURRENT_NODE}`, () => {
      const env = { TRY_SKILLS: workshop.skills, TRY_HOME: join(workshop.folder, `home-${way}`) };
      return judge(run(node, ["--input-type=module", "--eval", ASK], { cwd: moved, env }));
    });
  }
}
