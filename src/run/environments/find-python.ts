/** The Python that sandboxed commands find: asked inside, since that is the one the packages are for. */
import { mkdtempSync, realpathSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "../../sandbox/sandbox.ts";

export interface Python {
  /** As in `3.11 linux-x86_64`: packages for one do not fit another. */
  readonly build: string;
  readonly hasPip: boolean;
}

const QUESTION = [
  "import importlib.util, sys, sysconfig",
  "print(sys.implementation.cache_tag, sysconfig.get_platform())",
  "print(importlib.util.find_spec('pip') is not None)",
].join("\n");

const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 4096 };

/** A sandbox does not change while we run. */
const known = new WeakMap<Sandbox, Promise<Python | undefined>>();

/** `undefined` where commands find no `python3`. */
export function findPython(sandbox: Sandbox): Promise<Python | undefined> {
  const asked = known.get(sandbox) ?? askPython(sandbox);
  known.set(sandbox, asked);
  return asked;
}

async function askPython(sandbox: Sandbox): Promise<Python | undefined> {
  const empty = realpathSync(mkdtempSync(join(tmpdir(), "metier-python-")));
  try {
    const world = {
      cwd: empty,
      workDir: empty,
      readable: [empty],
      writable: [],
      masked: [],
      protectedPaths: [],
    };
    const argv = ["python3", "-I", "-c", QUESTION];
    const { exitCode, stdout } = await sandbox.run({ argv, world, env: {}, limits: LIMITS });
    const [build = "", pip] = stdout.trim().split("\n");
    return exitCode === 0 && build !== "" ? { build, hasPip: pip === "True" } : undefined;
  } finally {
    rmdirSync(empty);
  }
}
