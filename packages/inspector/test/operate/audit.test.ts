/** The audit log in the page: whether it is whole, where a long one ends, and which lines are shown. */
import { createHash } from "node:crypto";
import { canonicalText } from "@metier/base/json";
import type { ApiAuditLine } from "@metier/service/api";
import { expect, test } from "vitest";
import { checkChain } from "../../src/page/operate/audit-chain.ts";
import { findChanged } from "../../src/page/operate/audit-digests.ts";
import { filterAudit, listActions, readAuditFilter } from "../../src/page/operate/filter-audit.ts";
import { findEnd } from "../../src/page/operate/find-end.ts";

/** Lines 1 to `count`, chained. */
function linesTo(count: number): readonly ApiAuditLine[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: index + 1,
    at: "2026-11-17T08:00:00.000Z",
    actor: index % 2 === 0 ? "key-Ada" : "key-Grace",
    action: index % 3 === 0 ? "key.created" : "run.cancelled",
    subject: `run-${index}`,
    previous: index === 0 ? "0".repeat(64) : `digest ${index}`,
    digest: `digest ${index + 1}`,
  }));
}

test("a log whose lines each name the one before is whole, from wherever it was loaded", () => {
  expect(checkChain(linesTo(50))).toEqual({ from: 1, to: 50, brokenAt: undefined });
  expect(checkChain(linesTo(50).slice(20))).toEqual({ from: 21, to: 50, brokenAt: undefined });
  expect(checkChain([])).toBeUndefined();
});

test("a line that was changed, taken out or put before the first is named", () => {
  const lines = linesTo(50);
  const changed = lines.map((line) => (line.seq === 12 ? { ...line, digest: "another" } : line));
  expect(checkChain(changed)?.brokenAt).toBe(13);
  expect(checkChain(lines.filter(({ seq }) => seq !== 30))?.brokenAt).toBe(31);
  const renumbered = lines.slice(1).map((line) => ({ ...line, seq: line.seq - 1 }));
  expect(checkChain(renumbered)?.brokenAt).toBe(1);
});

test("a line whose contents were changed has another digest", async () => {
  const lines: ApiAuditLine[] = [];
  for (const [index, detail] of [undefined, { b: 1, a: ["<b>", null] }, "text"].entries()) {
    const [at, previous] = [1_763_366_400_123 + index, lines.at(-1)?.digest ?? "0".repeat(64)];
    const line = {
      ...{ seq: index + 1, actor: "p_1", action: "a.b", subject: "run-ü", previous },
      ...(detail !== undefined && { detail }),
    };
    const digest = createHash("sha256")
      .update(canonicalText({ ...line, at, tenant: "t_1" }))
      .digest("hex");
    lines.push({ ...line, at: new Date(at).toISOString(), digest });
  }
  expect(checkChain(lines)?.brokenAt).toBeUndefined();
  expect(await findChanged("t_1", lines)).toBeUndefined();
  expect(await findChanged("t_2", lines)).toBe(1);
  const forged = lines.map((line) => (line.seq === 2 ? { ...line, actor: "p_2" } : line));
  expect(await findChanged("t_1", forged)).toBe(2);
});

test.each([0, 1, 99, 100, 101, 250, 12_345, 1_000_000])(
  "of a log of %i lines the end is found with few questions",
  async (length) => {
    let asked = 0;
    const end = await findEnd(async (seq) => {
      asked += 1;
      return length > seq;
    }, 100);
    expect(end).toBeLessThanOrEqual(length);
    expect(length - end).toBeLessThanOrEqual(100);
    expect(asked).toBeLessThan(40);
  },
);

test("lines are narrowed by action, and by parts of who and to what", () => {
  const lines = linesTo(12);
  const pass = (query: Readonly<Record<string, string>>): readonly number[] =>
    filterAudit(lines, readAuditFilter(new Map(Object.entries(query)))).map(({ seq }) => seq);
  expect(pass({})).toHaveLength(12);
  expect(pass({ action: "key.created" })).toEqual([1, 4, 7, 10]);
  expect(pass({ action: "key.created", actor: "grace" })).toEqual([4, 10]);
  expect(pass({ subject: "RUN-11" })).toEqual([12]);
  expect(pass({ action: "key" })).toEqual([]);
  expect(listActions(lines)).toEqual(["key.created", "run.cancelled"]);
});
