import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { MAKE_HERE, openTreeMaker, type TreeMaker } from "../../src/install/tree-maker.ts";
import { KINDS, MANY, NATIVE, openMaker as open, THREADS } from "./maker-threads.ts";

test("a native thread makes many entries where there is one, else a thread of Node, else this one", async () => {
  const taken: string[] = [];
  const none = (name: string) => (): undefined => void taken.push(name);
  expect(openTreeMaker(MANY, [none("native"), none("node")])).toBe(MAKE_HERE);
  expect(taken).toEqual(["native", "node"]);
  const maker = openTreeMaker(MANY);
  expect(makerThreads()).toBe(NATIVE.length);
  await maker.close();
});

describe.each(KINDS)("a tree made $kind", ({ entries, start }) => {
  test("has its folders and files, with bytes and modes, and says when they are there", async () => {
    const root = temporaryFolder();
    const maker = open(entries, start);
    const seen: string[][] = [];
    for (let number = 0; number < 40; number++) {
      const folder = join(root, `folder-${number}`);
      maker.makeFolder(folder);
      maker.writeFile(join(folder, "file"), Buffer.from(`text ${number % 10}`), number % 2 ? 0o755 : 0o644);
      maker.writeFile(join(folder, "empty"), new Uint8Array(), 0o644);
      maker.makeLink(join(folder, "link"), `../folder-${number}`);
      maker.whenMade(() => seen.push(readdirSync(folder)));
    }
    await maker.finish();
    expect(seen).toEqual(Array.from({ length: 40 }, () => ["empty", "file", "link"]));
    expect(readFileSync(join(root, "folder-17", "file"), "utf8")).toBe("text 7");
    expect(readFileSync(join(root, "folder-3", "empty"))).toHaveLength(0);
    expect(readlinkSync(join(root, "folder-3", "link"))).toBe("../folder-3");
    expect(statSync(join(root, "folder-17", "file")).mode & 0o100).toBe(0o100);
    expect(statSync(join(root, "folder-18", "file")).mode & 0o100).toBe(0);
    await maker.finish(); // Nothing is left to wait for.
  });

  test("never replaces what is there, and makes nothing after that", async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, "taken"), "mine");
    const make = async (): Promise<void> => {
      const maker = open(entries, start);
      maker.writeFile(join(root, "taken"), Buffer.from("theirs"), 0o644);
      maker.whenMade(() => expect.unreachable("It was not made."));
      maker.writeFile(join(root, "later"), Buffer.from("theirs"), 0o644);
      await maker.finish();
    };
    await expect(make()).rejects.toMatchObject({ code: "EEXIST", message: expect.stringContaining("taken") });
    expect(readdirSync(root)).toEqual(["taken"]);
    expect(readFileSync(join(root, "taken"), "utf8")).toBe("mine");
  });

  test("needs the folder above, and ends when it is closed", async () => {
    const root = temporaryFolder();
    const maker = open(entries, start);
    const make = async (): Promise<void> => {
      maker.makeFolder(join(root, "a", "b"));
      await maker.finish();
    };
    await expect(make()).rejects.toMatchObject({ code: "ENOENT" });
    await maker.close();
    mkdirSync(join(root, "a"));
    expect(readdirSync(join(root, "a"))).toEqual([]);
  });
});

describe.each(THREADS)("a tree made $kind", ({ start }) => {
  test("is made in order, and whoever waits is told in order", async () => {
    const root = temporaryFolder();
    const maker = open(MANY, start);
    const told: number[] = [];
    let path = root;
    for (let number = 0; number < 300; number++) {
      path = number % 30 === 0 ? join(root, String(number)) : join(path, "x"); // Each needs the one before.
      maker.makeFolder(path);
      maker.writeFile(join(path, "file"), Buffer.from(`text ${number}`), 0o644);
      maker.whenMade(() => {
        told.push(number);
        expect(existsSync(join(root, String(number - (number % 30)), "file"))).toBe(true);
      });
    }
    await maker.finish();
    expect(told).toEqual(Array.from({ length: 300 }, (_, number) => number));
    expect(readFileSync(join(path, "file"), "utf8")).toBe("text 299");
  });

  test("has files of any size, with any bytes", async () => {
    const root = temporaryFolder();
    const maker = open(MANY, start);
    const sizes = [0, 1, 100_000, 262_143, 262_144, 262_145, 5_000_000, 3, 300_000];
    const contents = sizes.map((size) => Buffer.from(Uint8Array.from({ length: size }, (_, at) => at % 251)));
    for (const [index, bytes] of contents.entries()) maker.writeFile(join(root, String(index)), bytes, 0o644);
    await maker.finish();
    for (const [index, bytes] of contents.entries())
      expect(readFileSync(join(root, String(index))).equals(bytes)).toBe(true);
  });

  test("has names and targets with any letters, and the modes of the process", async () => {
    const root = temporaryFolder();
    const before = process.umask(0o027);
    onTestFinished(() => void process.umask(before));
    const maker = open(MANY, start);
    const names = [
      "caf\u00e9",
      "cafe\u0301",
      "三",
      "🙂",
      "a\nb",
      "\"'\\",
      "\u0001",
      "\ud800",
      "n".repeat(255),
    ];
    for (const name of names) {
      maker.makeFolder(join(root, name));
      maker.writeFile(join(root, name, "run"), Buffer.from(name), 0o755);
      maker.makeLink(join(root, name, "link"), `../${name}/\u00fc`);
    }
    await maker.finish();
    expect(readdirSync(root)).toHaveLength(names.length);
    for (const name of names) {
      expect(readFileSync(join(root, name, "run"))).toEqual(Buffer.from(name));
      expect(readlinkSync(join(root, name, "link"))).toBe(Buffer.from(`../${name}/\u00fc`).toString());
      expect(lstatSync(join(root, name)).mode & 0o777).toBe(0o750);
      expect(statSync(join(root, name, "run")).mode & 0o777).toBe(0o750);
    }
  });

  test("follows no link in the place of a file", async () => {
    const root = temporaryFolder();
    symlinkSync(join(root, "elsewhere"), join(root, "file"));
    const maker = open(MANY, start);
    maker.writeFile(join(root, "file"), Buffer.from("text"), 0o644);
    await expect(maker.finish()).rejects.toMatchObject({ code: "EEXIST" });
    expect(existsSync(join(root, "elsewhere"))).toBe(false);
  });

  test("ends at the first failure, with what was made before it", async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, "500"), "mine");
    const maker = open(MANY, start);
    let told = 0;
    for (let number = 0; number < 1000; number++) {
      maker.writeFile(join(root, String(number)), Buffer.from("theirs"), 0o644);
      if (number % 100 === 99) maker.whenMade(() => told++);
    }
    await expect(maker.finish()).rejects.toMatchObject({ code: "EEXIST" });
    expect(told).toBe(4); // What comes with the one that fails is there as well, but nobody is told.
    expect(readdirSync(root)).toHaveLength(501);
    maker.whenMade(() => expect.unreachable("It was not made."));
    maker.writeFile(join(root, "later"), Buffer.from("theirs"), 0o644);
    await expect(maker.finish()).rejects.toMatchObject({ code: "EEXIST" });
    expect(existsSync(join(root, "later"))).toBe(false);
  });

  test("says what the system said, as Node does", async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, "file"), "");
    const faults: readonly ((maker: TreeMaker) => void)[] = [
      (maker) => maker.makeFolder(join(root, "file")),
      (maker) => maker.makeFolder(join(root, "none/\u00e9")),
      (maker) => maker.writeFile(join(root, "file/below"), Buffer.from("text"), 0o644),
      (maker) => maker.writeFile(join(root, "n".repeat(256)), Buffer.from("text"), 0o644),
      (maker) => maker.makeLink(join(root, "file"), "target"),
      (maker) => maker.makeLink(join(root, "link"), ""),
    ];
    for (const fault of faults) {
      const maker = open(MANY, start);
      fault(maker);
      const said = await maker.finish().then(() => undefined, readFault);
      const expected = await Promise.resolve(MAKE_HERE)
        .then(fault)
        .then(() => undefined, readFault);
      expect(said).toEqual(expected);
      expect(said?.[0]).toMatch(/^E[A-Z]+$/);
    }
  });

  test("is not made any further once it is closed, and nobody waits for it", async () => {
    const root = temporaryFolder();
    const maker = open(MANY, start);
    for (let number = 0; number < 5000; number++)
      maker.writeFile(join(root, String(number)), Buffer.from("text"), 0o644);
    const finished = maker.finish();
    await maker.close();
    const made = readdirSync(root).length;
    await expect(finished).rejects.toThrow("The thread that writes files ended.");
    maker.makeFolder(join(root, "later"));
    await expect(maker.finish()).rejects.toThrow("The thread that writes files ended.");
    await maker.close();
    expect(readdirSync(root)).toHaveLength(made);
  });

  test("is made beside another", async () => {
    const root = temporaryFolder();
    const makers = ["a", "b"].map((name) => ({ name, maker: open(MANY, start) }));
    for (let number = 0; number < 200; number++)
      for (const { name, maker } of makers)
        maker.writeFile(join(root, `${name}${number}`), Buffer.from(name + number), 0o644);
    makers[0]?.maker.writeFile(join(root, "b0"), Buffer.from("a"), 0o644);
    await makers[1]?.maker.finish();
    await expect(makers[0]?.maker.finish()).rejects.toMatchObject({ code: "EEXIST" });
    expect(readdirSync(root)).toHaveLength(400);
    expect(readFileSync(join(root, "b199"), "utf8")).toBe("b199");
  });
});

function readFault(fault: NodeJS.ErrnoException): readonly (string | undefined)[] {
  return [fault.code, fault.message, fault.syscall, fault.path];
}

/** Those that are native. */
function makerThreads(): number {
  if (process.platform !== "linux") return 0;
  return readdirSync("/proc/self/task").filter((id) => {
    try {
      return readFileSync(`/proc/self/task/${id}/comm`, "utf8") === "metier-maker\n";
    } catch {
      return false; // It ended in the meantime.
    }
  }).length;
}

describe.each(NATIVE)("threads that made trees $kind", ({ start }) => {
  test("leave nothing behind when they are closed, with or without work", async () => {
    const root = temporaryFolder();
    const before = readdirSync("/proc/self/fd").length;
    for (let round = 0; round < 200; round++) {
      const maker = open(MANY, start);
      maker.makeFolder(join(root, String(round)));
      maker.writeFile(join(root, String(round), "file"), Buffer.from("text"), 0o644);
      if (round % 3 === 0) await maker.finish();
      else if (round % 3 === 1) maker.whenMade(() => undefined);
      await maker.close();
      expect(makerThreads()).toBe(0);
    }
    expect(readdirSync("/proc/self/fd").length - before).toBeLessThan(10);
  });

  const MODULE = JSON.stringify(join(import.meta.dirname, "../../src/install/tree-maker.ts"));

  /** A program that has a `maker`, and `fill()`, which gives it 5000 files. */
  function write(root: string, program: string): string {
    return `
      const { Worker, parentPort } = require("node:worker_threads");
      const { readdirSync } = require("node:fs");
      const root = ${JSON.stringify(root)};
      const { openTreeMaker } = require(${MODULE});
      const maker = openTreeMaker(1000);
      const fill = (maker) => {
        for (let number = 0; number < 5000; number++) maker.writeFile(root + "/" + number, Buffer.from("text"), 0o644);
        maker.whenMade(() => console.log("made", readdirSync(root).length));
        void maker.finish();
      };
      ${program}`;
  }

  function run(program: string, root = temporaryFolder()): string {
    const args = ["--expose-gc", "--eval", write(root, program)];
    return execFileSync(process.execPath, args, { encoding: "utf8" });
  }

  test("keep a process alive while they work, and not longer", () => {
    expect(run("fill(maker);")).toBe("made 5000\n");
    expect(run("maker.makeFolder(root + '/a'); maker.close();")).toBe("");
    expect(run("console.log('never closed');")).toBe("never closed\n");
  });

  test("end with a process or a thread that ends while they work", () => {
    expect(run("fill(maker); process.exit(0);")).toBe("");
    const root = temporaryFolder();
    const work = "fill(maker); parentPort.postMessage('full'); setInterval(() => undefined, 1000);";
    const inner = write(root, work);
    const outer = `const worker = new Worker(${JSON.stringify(inner)}, { eval: true });
      worker.once("message", () => worker.terminate());
      worker.once("exit", () => {
        const made = readdirSync(root).length;
        setTimeout(() => console.log(readdirSync(root).length - made), 20);
      });`;
    expect(run(outer, root)).toBe("0\n");
  });

  test("end when nobody holds them anymore, but not before their work is done", () => {
    const program = `fill(openTreeMaker(1000));
      const { readFileSync } = require("node:fs");
      const isMaker = (id) => readFileSync("/proc/self/task/" + id + "/comm", "utf8").trim() === "metier-maker";
      const timer = setInterval(() => {
        gc();
        if (readdirSync("/proc/self/task").filter(isMaker).length > 1) return;
        clearInterval(timer);
        console.log("ended");
        maker.close();
      }, 5);`;
    expect(run(program)).toBe("made 5000\nended\n");
  });

  test("pass on what a listener throws, as an event does", () => {
    const program = `process.on("uncaughtException", ({ message }) => console.log("caught", message));
      maker.makeFolder(root + "/a");
      maker.whenMade(() => { throw new Error("mine"); });
      void maker.finish();`;
    expect(run(program)).toBe("caught mine\n");
  });
});
