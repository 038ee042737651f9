import { describe, expect, test } from "vitest";
import { diffLines } from "../../../src/install/update/compare-content.ts";

function show(before: string, after: string): string {
  const marks = { same: " ", added: "+", removed: "-" } as const;
  return diffLines([...before], [...after])
    .map(({ kind, text }) => `${marks[kind]}${text}`)
    .join("");
}

describe("diffLines", () => {
  test("keeps what is the same and names what was added and removed", () => {
    expect(show("abc", "abc")).toBe(" a b c");
    expect(show("", "ab")).toBe("+a+b");
    expect(show("ab", "")).toBe("-a-b");
    expect(show("abcd", "abXd")).toBe(" a b-c+X d");
    expect(show("abcabba", "cbabac")).toBe("-a-b c+b a b-b a+c");
  });

  test("gives both texts back, whatever they are, with no more changes than the shortest way has", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const text = (): string[] => Array.from({ length: random(12) }, () => "abc"[random(3)] ?? "");
    for (let round = 0; round < 500; round++) {
      const before = text();
      const after = text();
      const lines = diffLines(before, after);
      const without = (kind: string): string[] =>
        lines.filter((line) => line.kind !== kind).map((line) => line.text);
      expect(without("added")).toEqual(before);
      expect(without("removed")).toEqual(after);
      const changes = lines.filter(({ kind }) => kind !== "same").length;
      expect(changes).toBe(before.length + after.length - 2 * commonSubsequence(before, after));
    }
  });

  test("replaces texts that have too little in common as a whole, without waiting for ages", () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `old ${index}`);
    const after = Array.from({ length: 20_000 }, (_, index) => `new ${index}`);
    const lines = diffLines(["same", ...before], ["same", ...after]);
    expect(lines.slice(0, 2)).toEqual([
      { kind: "same", text: "same" },
      { kind: "removed", text: "old 0" },
    ]);
    expect(lines).toHaveLength(40_001);
  });
});

function commonSubsequence(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const one of a) {
    const next = [0];
    for (const [index, other] of b.entries()) {
      next.push(one === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
