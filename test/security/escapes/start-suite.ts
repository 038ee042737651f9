/** Runs the attempts in a process of their own, so that not even an escape ends the tests, as this user or another. */
import { spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { AS_NOBODY, NOBODY } from "../../support/nobody.ts";
import { ROOT } from "../../support/repository.ts";
import type { Report } from "./run-suite.ts";

const SUITE = join(ROOT, "test/security/escapes/run-suite.ts");

export interface SuiteRequest {
  readonly backend: Report["backend"];
  /** Only what the backend is meant to contain. */
  readonly promised?: boolean;
  /** Each in a sandbox that was made ahead. */
  readonly ahead?: boolean;
  /** What starts it: `setpriv` with its options. */
  readonly through?: readonly string[];
  /** Where it may write. Default: the temporary folder of the machine. */
  readonly folder?: string;
}

export async function startSuite(request: SuiteRequest): Promise<Report> {
  const { backend, promised, ahead, through = [], folder } = request;
  const options = ["--backend", backend, "--json"];
  if (promised) options.push("--promised");
  if (ahead) options.push("--ahead");
  const [program = "", ...args] = [...through, process.execPath, SUITE, ...options];
  const child = spawn(program, args, {
    env: { ...process.env, ...(folder !== undefined && { TMPDIR: folder }) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  try {
    return JSON.parse(output) as Report;
  } catch {
    throw new Error(`The attempts were not made to the end: ${errors || output || "nothing was said"}`);
  }
}

/** As an ordinary user, in a folder that is that user's. */
export async function startAsNobody(request: SuiteRequest): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "metier-test-"));
  chownSync(folder, NOBODY, NOBODY);
  try {
    return await startSuite({ ...request, through: ["setpriv", ...AS_NOBODY], folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
