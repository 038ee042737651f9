/** The installed package under Bun, and a bundle made by Bun, moved and run by Bun and by Node. */
import { cpSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { findPaths } from "./bundles.mjs";
import { APP } from "./node-projects.mjs";
import { CURRENT_NODE, judge, makeProject, nodeProgram, row, run, tool } from "./toolbox.mjs";

const VERSION = "1.4.4";
/** docs/how-to/engineer/bundle-and-deploy.md says what Bun lacks for them and what Metier reports then. */
const WITHOUT = { skip: ["shell", "toolset"] };

/** @param {import("./toolbox.mjs").Workshop} workshop */
export function* tryBun(workshop) {
  const bun = join(tool(workshop, `@oven/bun-${process.platform}-${process.arch}`, VERSION), "bin", "bun");
  const project = makeProject(workshop, "bun", { files: APP });
  yield row(`Bun ${VERSION}, ESM`, () =>
    judge(run(bun, ["main.mjs", workshop.skills], { cwd: project }), WITHOUT),
  );
  const moved = join(workshop.folder, "moved-bun");
  const made = row(`Bun ${VERSION}, bun build: bundle`, () => {
    const args = ["build", "main.mjs", "--target=node", "--outfile=out/app.mjs"];
    const { ok, output } = run(bun, args, { cwd: project });
    if (!ok) return output.slice(-2000);
    mkdirSync(moved);
    cpSync(join(project, "out"), moved, { recursive: true });
    renameSync(project, `${project}-away`);
    return findPaths(moved, project);
  });
  yield made;
  if (made.problem !== undefined) return;
  const node = nodeProgram(workshop, CURRENT_NODE);
  for (const [name, program] of [
    ["Bun", bun],
    [`Node ${CURRENT_NODE}`, node],
  ])
    yield row(`Bun ${VERSION}, bun build: moved, on ${name}`, () =>
      judge(run(program ?? "", ["app.mjs", workshop.skills], { cwd: moved }), program === bun ? WITHOUT : {}),
    );
}
