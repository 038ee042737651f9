/** The filter is run here as the kernel would run it, for both machines. */
import { expect, test } from "vitest";
import { buildSeccompFilter } from "../../src/sandbox/bubblewrap/seccomp-filter.ts";

const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;
const ALLOWED = 0x7fff0000;
const REFUSED = 0x00050001;
const NO_SUCH_CALL = 0x00050000 + 38;
const NO_SUCH_FAMILY = 0x00050000 + 97;
const KILLED = 0x80000000;

/** What the filter answers to one call. */
function answer(machine: string, architecture: number, call: number, ...args: readonly number[]): number {
  const filter = buildSeccompFilter(machine) ?? Buffer.alloc(0);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const operand = filter.readUInt32LE(at + 4);
    const jump = (isTrue: boolean): number => 8 * filter.readUInt8(at + (isTrue ? 2 : 3));
    const code = filter.readUInt16LE(at);
    if (code === 0x06) return operand;
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else if (code === 0x15) at += jump(accumulator === operand);
    else if (code === 0x35) at += jump(accumulator >= operand);
    else if (code === 0x45) at += jump((accumulator & operand) !== 0);
    else throw new Error(`No instruction of ours: ${code}`);
  }
  throw new Error("The filter ended without an answer.");
}

test("refuses dangerous calls on both machines and lets the rest pass", () => {
  for (const [machine, architecture, refused, allowed] of [
    ["x64", X64, [101, 165, 272, 250, 321, 425, 173], [0, 1, 56, 59, 456]],
    ["arm64", ARM64, [117, 40, 97, 219, 280, 425], [63, 64, 220, 221, 456]],
  ] as const) {
    for (const call of refused) expect(answer(machine, architecture, call)).toBe(REFUSED);
    for (const call of allowed) expect(answer(machine, architecture, call)).toBe(ALLOWED);
  }
});

test("refuses calls of another convention, by which every number would mean something else", () => {
  expect(answer("x64", 0x40000003, 1)).toBe(KILLED);
  expect(answer("x64", X64, 0x40000000 + 101)).toBe(NO_SUCH_CALL);
});

test("denies that calls exist which no filter or watchdog could look into, and those of later kernels", () => {
  for (const call of [435, 319, 447, 29, 68, 457, 470, 1000]) {
    expect(answer("x64", X64, call)).toBe(NO_SUCH_CALL);
  }
  for (const call of [435, 279, 447, 194, 186, 457]) {
    expect(answer("arm64", ARM64, call)).toBe(NO_SUCH_CALL);
  }
});

test("lets programs start processes and threads, but no namespaces", () => {
  const thread = 0x003d0f00;
  for (const [machine, architecture, clone] of [
    ["x64", X64, 56],
    ["arm64", ARM64, 220],
  ] as const) {
    for (const flags of [17, thread]) expect(answer(machine, architecture, clone, flags)).toBe(ALLOWED);
    for (const kind of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(answer(machine, architecture, clone, kind + 17)).toBe(REFUSED);
    }
  }
});

test("lets no file run as its owner or group, by whichever call the mode is set", () => {
  for (const [machine, architecture, call, place] of [
    ["x64", X64, 90, 1],
    ["x64", X64, 91, 1],
    ["x64", X64, 268, 2],
    ["x64", X64, 452, 2],
    ["arm64", ARM64, 52, 1],
    ["arm64", ARM64, 53, 2],
    ["arm64", ARM64, 452, 2],
  ] as const) {
    const chmod = (mode: number): number =>
      answer(machine, architecture, call, ...Array(place).fill(0), mode);
    for (const mode of [0o4755, 0o2755, 0o6000]) expect(chmod(mode)).toBe(REFUSED);
    for (const mode of [0o755, 0o1777, 0]) expect(chmod(mode)).toBe(ALLOWED);
  }
});

test("keeps the protection of memory as it is", () => {
  expect(answer("x64", X64, 135, 0xffffffff)).toBe(ALLOWED);
  expect(answer("x64", X64, 135, 0x0040000)).toBe(REFUSED);
  expect(answer("arm64", ARM64, 92, 0x0400000)).toBe(REFUSED);
});

test("keeps a program from typing into the terminal, whatever the upper half of the request is", () => {
  expect(answer("x64", X64, 16, 0, 0x5412)).toBe(REFUSED);
  expect(answer("x64", X64, 16, 0, 0x1_0000_5412)).toBe(REFUSED);
  expect(answer("arm64", ARM64, 29, 0, 0x541c)).toBe(REFUSED);
  expect(answer("x64", X64, 16, 0, 0x5401)).toBe(ALLOWED);
});

test("allows sockets of the families that namespaces divide, and no other", () => {
  for (const family of [1, 2, 10, 16]) expect(answer("x64", X64, 41, family)).toBe(ALLOWED);
  for (const family of [17, 38, 40, 44]) expect(answer("arm64", ARM64, 198, family)).toBe(NO_SUCH_FAMILY);
});

test("is absent for machines whose calls are not known", () => {
  expect(buildSeccompFilter("riscv64")).toBeUndefined();
});
