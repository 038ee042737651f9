/**
 * `npm run a2a-tck -- <folder> [<argument of pytest>…]`: runs A2A's Technology Compatibility Kit against `metier serve`, over
 * JSON-RPC. The folder is a checkout of the kit's branch `1.0-dev`. Needs Python 3 with pytest, pytest-asyncio, httpx,
 * jsonschema and Jinja2; parts of the kit that only gRPC needs may be missing.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ROOT, runInForeground, runQuietly, runScript, SetUpError } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

const PYTHON = process.env.PYTHON ?? "python3";
const NEEDED = "import pytest, pytest_asyncio, httpx, jsonschema, jinja2";

runScript(() => {
  const [folder, ...args] = process.argv.slice(2);
  if (folder === undefined)
    throw new SetUpError("Pass the folder of the kit: `npm run a2a-tck -- <folder>`.");
  const kit = resolve(process.env.INIT_CWD ?? ".", folder);
  if (!existsSync(join(kit, "tests", "compatibility", "conftest.py")))
    throw new SetUpError(
      `\`${folder}\` is not the kit. Check out the branch \`1.0-dev\` of a2aproject/a2a-tck.`,
    );
  const found = runQuietly(PYTHON, ["-c", NEEDED]);
  if (!found.ok)
    throw new SetUpError(
      `\`${PYTHON}\` can't load what the kit needs (${NEEDED}). Install it, or set PYTHON.`,
      found.output,
    );
  return runInForeground(setUp(), [join(ROOT, "scripts", "a2a", "run-kit.mjs"), PYTHON, kit, ...args]);
});
