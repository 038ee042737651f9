/**
 * Links that are swapped while a file is read: first at exactly the moments between the steps of the gate, by hooks
 * around the system calls it makes, then by a second process that swaps as fast as it can.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openContained, openListed } from "@metier/base/files";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "../support/verifies.ts";
import { type HostileSkill, hostileSkill, SECRET, tryRead } from "./hostile-skill.ts";

const GUIDE = "references/guide.md";

interface Hooks {
  afterResolve?: (() => void) | undefined;
  afterOpen?: (() => void) | undefined;
  /** As on a system that does not tell where an open file lies. */
  withoutProc?: boolean;
}

const hooks = vi.hoisted((): Hooks => ({}));

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  /** A hook runs once: it is taken away before it runs. */
  const run = (name: "afterResolve" | "afterOpen"): void => {
    const hook = hooks[name];
    hooks[name] = undefined;
    hook?.();
  };
  const native = (path: string): string => {
    const real = fs.realpathSync.native(path);
    run("afterResolve");
    return real;
  };
  return {
    ...fs,
    realpathSync: Object.assign((path: string) => fs.realpathSync(path), { native }),
    openSync: (path: string, flags: number, mode?: number) => {
      const descriptor = fs.openSync(path, flags, mode);
      run("afterOpen");
      return descriptor;
    },
    readlinkSync: (path: string) => {
      if (hooks.withoutProc && path.startsWith("/proc/")) throw new Error("There is no /proc.");
      return fs.readlinkSync(path);
    },
  };
});

/** Puts a link in the place of what is there, and back. */
function swapper(path: string, target: string): { swap(): void; restore(): void } {
  return {
    swap() {
      renameSync(path, `${path}.kept`);
      symlinkSync(target, path);
    },
    restore() {
      renameSync(path, `${path}.link`);
      renameSync(`${path}.kept`, path);
    },
  };
}

/** What stands at `GUIDE` is swapped as a whole, by its folder, or with the skill's folder. */
const SWAPPED = {
  "the file": ({ directory, outside }: HostileSkill) =>
    swapper(join(directory, GUIDE), join(outside, "secret.txt")),
  "the folder it stands in": ({ directory, outside }: HostileSkill) =>
    swapper(join(directory, "references"), outside),
  "the skill's folder": ({ directory, outside }: HostileSkill) => swapper(directory, outside),
};

beforeEach(() => {
  Object.assign(hooks, { afterResolve: undefined, afterOpen: undefined, withoutProc: false });
});

describe.each(Object.entries(SWAPPED))("when %s is swapped for a link", (_what, prepare) => {
  describe.each([false, true])("on a system without /proc: %s", (withoutProc) => {
    test("after the path was resolved, nothing is given out", () => {
      const hostile = hostileSkill();
      hooks.withoutProc = withoutProc;
      hooks.afterResolve = prepare(hostile).swap;
      expect(openContained(hostile.directory, GUIDE)).toMatchObject({ ok: false, reason: "outside" });
    });

    test("and back after the file was opened, nothing is given out", () => {
      const hostile = hostileSkill();
      const { swap, restore } = prepare(hostile);
      hooks.withoutProc = withoutProc;
      hooks.afterResolve = swap;
      hooks.afterOpen = restore;
      expect(openContained(hostile.directory, GUIDE)).toMatchObject({ ok: false, reason: "outside" });
    });

    test("after the folder was listed, nothing is given out, not even if it is swapped back", () => {
      for (const comesBack of [false, true]) {
        const hostile = hostileSkill();
        const { swap, restore } = prepare(hostile);
        hooks.withoutProc = withoutProc;
        swap();
        hooks.afterOpen = comesBack ? restore : undefined;
        expect(openListed(hostile.directory, GUIDE)).toMatchObject({ ok: false, reason: "outside" });
      }
    });

    test("after the right file was opened, the right file is read or nothing", () => {
      const hostile = hostileSkill();
      hooks.withoutProc = withoutProc;
      hooks.afterOpen = prepare(hostile).swap;
      const opened = openContained(hostile.directory, GUIDE);
      if (!opened.ok) return expect(opened.reason).toBe("outside");
      expect(readFileSync(opened.file.descriptor, "utf8")).toBe("inside");
      closeSync(opened.file.descriptor);
    });
  });
});

/** Swaps until it is killed, with nothing at the path for as short as possible. */
const SWAP_FOREVER = `
  const { renameSync } = require("node:fs");
  const [path, ...others] = process.argv.slice(1);
  process.stdout.write("ready");
  for (;;) for (const other of others) {
    try { renameSync(path, path + ".aside"); } catch {}
    try { renameSync(other, path); } catch {}
    try { renameSync(path, other); } catch {}
    try { renameSync(path + ".aside", path); } catch {}
  }`;

describe("a second process that swaps as fast as it can", () => {
  const RACE_MS = 1000;

  async function race(hostile: HostileSkill, path: string, target: string): Promise<void> {
    symlinkSync(target, `${path}.hostile`);
    const child = spawn(process.execPath, ["-e", SWAP_FOREVER, path, `${path}.hostile`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const outcomes = new Map<string, number>();
    for (const end = Date.now() + RACE_MS; Date.now() < end; ) {
      const { text, reason = "read" } = tryRead(hostile.skill, GUIDE);
      if (text !== undefined) expect(text).toBe("inside");
      outcomes.set(reason, (outcomes.get(reason) ?? 0) + 1);
    }
    child.kill("SIGKILL");
    await once(child, "exit");
    for (const reason of outcomes.keys()) expect(["read", "outside", "missing"]).toContain(reason);
    expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  }

  verifies(180, "a file that turns into a link and back never gives out what the link leads to", async () => {
    const hostile = hostileSkill();
    await race(hostile, join(hostile.directory, GUIDE), join(hostile.outside, "secret.txt"));
  });

  verifies(180, "nor does a folder", async () => {
    const hostile = hostileSkill();
    await race(hostile, join(hostile.directory, "references"), join(hostile.outside, "references"));
  });

  verifies(181, "nor does the skill's folder itself", async () => {
    const hostile = hostileSkill();
    await race(hostile, hostile.directory, hostile.outside);
  });
});

test("the secret can be read where it lies, so the tests above would notice", () => {
  const { outside } = hostileSkill();
  for (const file of ["secret.txt", "guide.md", GUIDE]) {
    expect(readFileSync(join(outside, file), "utf8")).toBe(SECRET);
  }
});
