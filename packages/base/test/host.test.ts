import { callHost, type Logger, openHostCalls, openLog, sayFault } from "@metier/base/diagnostic";
import { describe, expect, test } from "vitest";

type Line = readonly unknown[];

/** As pino declares its functions. */
interface PinoLine {
  <Given, Message extends string = string>(
    obj: Given,
    msg?: Given extends string ? never : Message,
    ...args: unknown[]
  ): void;
  (obj: unknown, msg?: string, ...args: unknown[]): void;
  (msg: string, ...args: unknown[]): void;
}

/** As winston declares its functions. */
interface WinstonLine {
  (message: string, meta: unknown): object;
  (message: unknown): object;
  (info: object): object;
}

function fourOf<Write>(write: Write): Record<"debug" | "info" | "warn" | "error", Write> {
  return { debug: write, info: write, warn: write, error: write };
}

describe("a logger of the program", () => {
  test("that is console-shaped gets the message first", () => {
    const lines: Line[] = [];
    const logger: Logger = fourOf((message: string, fields: object) => void lines.push([message, fields]));
    openLog(logger)("warn", { runId: "x" }, "limit reached");
    expect(lines).toEqual([["limit reached", { runId: "x" }]]);
    const own: Logger = console; // It compiles.
    expect(own).toBe(console);
  });

  test("that is pino-shaped gets the fields first, as its own method", () => {
    const lines: Line[] = [];
    const pino = {
      level: "info",
      lines,
      child: (bindings: object) => bindings,
      ...fourOf(function (this: { lines: Line[] }, ...given: unknown[]) {
        this.lines.push(given);
      } as PinoLine),
    };
    const logger: Logger = pino;
    openLog(logger)("info", { runId: "x" }, "run started");
    expect(lines).toEqual([[{ runId: "x" }, "run started"]]);
  });

  test("that is winston's gets the message first, though it has `child`", () => {
    const lines: Line[] = [];
    const write = ((...given: unknown[]) => void lines.push(given)) as unknown as WinstonLine;
    const winston = { child: (meta: object) => meta, log: () => undefined, ...fourOf(write) };
    openLog(winston)("error", { runId: "x" }, "run failed");
    expect(lines).toEqual([["run failed", { runId: "x" }]]);
  });

  test("that throws or rejects harms nothing", async () => {
    const throwing = openLog(
      fourOf(() => {
        throw new Error("the disk is full");
      }),
    );
    const rejecting = openLog(fourOf(async () => Promise.reject(new Error("the disk is full"))));
    const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
    for (const log of [throwing, rejecting, throwing]) log("info", {}, "run started");
    expect(await warning).toMatchObject({
      name: "MetierWarning",
      code: "host.callback-failed",
      message: "The program's `logger` failed: the disk is full",
    });
  });
});

describe("callHost [L1]", () => {
  test("tells of a fault, now or later, and of nothing else", async () => {
    const faults: unknown[] = [];
    const note = (fault: unknown) => void faults.push(fault);
    expect(callHost(() => 1, note)).toBeUndefined();
    callHost(() => {
      throw "now";
    }, note);
    await callHost(() => Promise.reject("later"), note);
    const key = "then";
    await callHost(() => ({ [key]: (_: unknown, fail: (fault: unknown) => void) => fail("thenable") }), note);
    callHost(
      () =>
        Object.defineProperty({}, key, {
          get() {
            throw "getter";
          },
        }),
      note,
    );
    await callHost(async () => "fine", note);
    expect(faults).toEqual(["now", "later", "thenable", "getter"]);
  });

  test("a fault is said in words, whatever it is", () => {
    expect([new Error("x"), "y", 7, undefined].map(sayFault)).toEqual(["x", "y", "7", "undefined"]);
    expect(sayFault({ why: "x" })).toBe('{"why":"x"}');
    expect(sayFault(Object.create(null))).toBe("a value that can't be shown");
  });

  test("a callback without a run is told to the logger", () => {
    const lines: Line[] = [];
    const tell = openHostCalls(fourOf((...line: unknown[]) => void lines.push(line)));
    tell("watch", undefined);
    tell(
      "watch",
      (what: string) => {
        throw new Error(what);
      },
      "gone",
    );
    expect(lines).toEqual([
      ["The program's `watch` failed: gone", expect.objectContaining({ code: "host.callback-failed" })],
    ]);
  });
});
