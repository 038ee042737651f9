/** Starts `metier serve` with a model that follows the kit's scenarios, and runs the kit against it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { serve } from "../mcp/start-servers.mjs";
import { startModel } from "./scenario-model.mjs";

const [python = "python3", kit = ".", ...more] = process.argv.slice(2);
const SKILL =
  "---\nname: greet\ndescription: Greets people. Use when someone says hello.\n---\n\nSay hello.\n";

/** The kit imports its gRPC client for every transport. Stand-ins replace modules that aren't installed. */
const STAND_INS = `import importlib, sys
from unittest.mock import MagicMock
for name in ("grpc", "google.rpc", "google.protobuf.descriptor", "google.protobuf.json_format",
             "specification.generated.a2a_pb2", "specification.generated.a2a_pb2_grpc"):
    try:
        importlib.import_module(name)
    except Exception:
        parent, _, child = name.rpartition(".")
        sys.modules[name] = MagicMock()
        if parent:
            setattr(sys.modules.setdefault(parent, MagicMock()), child, sys.modules[name])
`;

const folder = mkdtempSync(join(tmpdir(), "metier-a2a-tck-"));
const model = await startModel();
try {
  const config = `[models.default]\nprovider = "openai-compatible"\nmodel = "m"\nbase-url = "${model.url}"\n`;
  write("home/.metier/skills/greet/SKILL.md", SKILL);
  write("home/.metier/config.toml", config);
  write("stand_ins.py", STAND_INS);
  // Instead of the kit's own: it also runs with the pytest 7 of Debian 12.
  write("pytest.ini", "[pytest]\nasyncio_mode = auto\naddopts = -W ignore\n");
  const served = await serve(join(folder, "home"), undefined, "/a2a/skills/greet", nameScenario);
  try {
    process.exitCode = await runKit(served.url);
  } finally {
    served.stop();
  }
} finally {
  model.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} path @param {string} content */
function write(path, content) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

/** The kit names its scenario in the message's id, which models don't see: the text repeats it. @param {string} body */
function nameScenario(body) {
  try {
    const request = JSON.parse(body);
    const { messageId, parts } = request.params.message;
    if (typeof parts[0].text === "string") parts[0].text += ` [${messageId}]`;
    return JSON.stringify(request);
  } catch {
    // Wrong requests arrive as the kit wrote them.
    return body;
  }
}

/** @param {string} url @returns {Promise<number>} */
function runKit(url) {
  const options = [
    "-p",
    "stand_ins",
    "-p",
    "no:cacheprovider",
    "-c",
    join(folder, "pytest.ini"),
    `--rootdir=${kit}`,
    "--tb=line",
    "-rfEsx",
  ];
  const args = [
    "-m",
    "pytest",
    "tests/compatibility",
    `--sut-host=${url}`,
    "--transport=jsonrpc",
    ...options,
    ...more,
  ];
  const PYTHONPATH = [folder, kit].join(delimiter);
  const env = { ...process.env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" };
  const child = spawn(python, args, { cwd: kit, stdio: "inherit", env });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
