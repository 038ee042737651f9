/**
 * A program: runs `argv[3]` in the sandbox, with the folder `argv[2]` as its work folder and `argv[4]` as limits in JSON,
 * and prints the outcome.
 */
import { chooseSandbox } from "@metier/sandbox";

const [, , workDir = "", command = "", more = "{}"] = process.argv;
const { sandbox, probes } = await chooseSandbox({ backend: "auto" });
const world = {
  cwd: workDir,
  workDir,
  readable: [workDir],
  writable: [workDir],
  masked: [],
  protectedPaths: [],
};
const limits = { timeoutMs: 600_000, maxOutputBytes: 10_000, ...JSON.parse(more) };
const outcome = await sandbox?.run({ argv: ["bash", "-c", command], world, env: {}, limits });
process.stdout.write(JSON.stringify(outcome ?? { probes }));
