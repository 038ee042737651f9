/** What processes on one store tell each other of runs. */
import type { BusNotice, NoticeBus } from "@metier/durable";
import { expect, onTestFinished, test } from "vitest";
import { createRunNotices } from "../src/runs/run-notices.ts";
import { type SharedNotices, shareNotices } from "../src/runs/share-notices.ts";

/** Two processes whose notices arrive at once. */
function twoMachines(): {
  readonly server: SharedNotices;
  readonly worker: SharedNotices;
  sent: BusNotice[];
} {
  const sent: BusNotice[] = [];
  const hear: ((notice: BusNotice) => void)[][] = [[], []];
  const busOf = (own: number, other: number): NoticeBus => ({
    tell(notice) {
      sent.push(notice);
      for (const listener of hear[other] ?? []) listener(notice);
    },
    onNotice(listener) {
      hear[own]?.push(listener);
      return () => void hear[own]?.splice(0);
    },
  });
  const open = (own: number, other: number): SharedNotices => {
    const shared = shareNotices(createRunNotices(), busOf(own, other));
    onTestFinished(() => shared.stop());
    return shared;
  };
  return { server: open(0, 1), worker: open(1, 0), sent };
}

test("a write on one machine wakes who waits on another, once", async () => {
  const { server, worker, sent } = twoMachines();
  const woken = server.next("r1", 60_000, new AbortController().signal);
  worker.changed("r1");
  await woken;
  expect(sent).toEqual([{ kind: "run", runId: "r1" }]);
});

test("lists on another machine hear of runs, approvals and the catalog", () => {
  const { server, worker } = twoMachines();
  const heard: unknown[] = [];
  server.onChange((change) => heard.push(change));
  worker.tell({ kind: "run", id: "r1", runId: "r1" });
  worker.tell({ kind: "approval", id: "q1", runId: "r1" });
  worker.tell({ kind: "catalog", tenant: "acme" });
  expect(heard).toEqual([
    { kind: "run", id: "r1", runId: "r1" },
    { kind: "approval", id: "q1", runId: "r1" },
    { kind: "catalog", tenant: "acme" },
  ]);
});

test("what a model writes travels in frames, and only for runs that somebody follows elsewhere", async () => {
  const { server, worker, sent } = twoMachines();
  worker.wrote("r1", "nobody ");
  const pieces: string[] = [];
  const leave = server.onText("r1", (piece) => void pieces.push(piece));
  server.onText("r1", () => undefined);
  for (const piece of ["is ", "it ", "you"]) worker.wrote("r1", piece);
  worker.wrote("r2", "unwatched");
  await expect.poll(() => pieces).toEqual(["is it you"]);
  leave();
  expect(sent).toEqual([
    { kind: "watch", runId: "r1" },
    { kind: "text", runId: "r1", text: "is it you" },
  ]);
});
