/**
 * What lists must reload, as server-sent events without numbers: nothing is stored, and clients read the lists once
 * when they connect. Several changes to one thing are merged; if too much changes at once, only the kinds are sent.
 */
import type { ApiChange } from "../api.ts";
import type { ListChange, RunNotices } from "../runs/run-notices.ts";
import { streamFrames } from "./frame-stream.ts";

interface ChangeStreamParts {
  readonly notices: Pick<RunNotices, "onChange">;
  /** Called when the server's skills change; returns a function that ends it. Absent: they aren't this tenant's. */
  readonly onCatalog?: ((listener: () => void) => () => void) | undefined;
  readonly tenant: string;
  tenantOf(runId: string): Promise<string | undefined>;
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
  mayGoOn(): Promise<boolean>;
  onEnd(): void;
  onFault(fault: unknown): void;
}

/** Changes within this time are sent together. */
const FRAME_MS = 50;
const MOST_PENDING = 1_000;
const EVERYTHING: readonly ApiChange[] = [{ kind: "run" }, { kind: "approval" }, { kind: "catalog" }];

export function streamChanges(parts: ChangeStreamParts): ReadableStream<Uint8Array> {
  const pending = collectChanges(parts);
  const end = (): void => {
    pending.stop();
    parts.onEnd();
  };
  const next = async (): Promise<string | undefined> => {
    const until = performance.now() + parts.heartbeatMs;
    for (;;) {
      await pending.wait(Math.max(1, until - performance.now()));
      if (parts.signal.aborted || !(await parts.mayGoOn())) return undefined;
      const changes = await ownChanges(pending.take(), parts);
      if (changes.length > 0) return changes.map((change) => `data: ${JSON.stringify(change)}\n\n`).join("");
      if (performance.now() >= until) return ": heartbeat\n\n";
    }
  };
  return streamFrames({ next, end, onFault: parts.onFault });
}

interface PendingChanges {
  /** Until there is something to take and a moment has passed, until `ms`, or until it is over. */
  wait(ms: number): Promise<void>;
  /** `undefined`: too much to list one by one. */
  take(): readonly ListChange[] | undefined;
  stop(): void;
}

function collectChanges({ notices, onCatalog, tenant, signal }: ChangeStreamParts): PendingChanges {
  const changes = new Map<string, ListChange>();
  let isTooMuch = false;
  let wake: () => void = () => undefined;
  const onWake = (resolve: () => void): void => {
    wake = resolve;
  };
  const add = (change: ListChange): void => {
    if (change.kind === "catalog" && change.tenant !== tenant) return;
    if (changes.size >= MOST_PENDING) isTooMuch = true;
    else changes.set(change.kind === "catalog" ? change.kind : `${change.kind} ${change.id}`, change);
    wake();
  };
  const ignore = notices.onChange(add);
  const ignoreCatalog = onCatalog?.(() => add({ kind: "catalog", tenant }));
  return {
    async wait(ms) {
      if (changes.size === 0) await pause(ms, signal, onWake);
      if (changes.size > 0) await pause(FRAME_MS, signal);
    },
    take() {
      const taken = isTooMuch ? undefined : [...changes.values()];
      changes.clear();
      isTooMuch = false;
      return taken;
    },
    stop() {
      ignore();
      ignoreCatalog?.();
    },
  };
}

function pause(ms: number, signal: AbortSignal, onStart?: (resolve: () => void) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", finish);
    resolve();
  };
  const timer = setTimeout(finish, ms);
  signal.addEventListener("abort", finish, { once: true });
  onStart?.(finish);
  if (signal.aborted) finish();
  return promise;
}

/** Those of the tenant. */
async function ownChanges(
  changes: readonly ListChange[] | undefined,
  { tenant, tenantOf }: ChangeStreamParts,
): Promise<readonly ApiChange[]> {
  if (changes === undefined) return EVERYTHING;
  const own: ApiChange[] = [];
  const known = new Map<string, boolean>();
  for (const change of changes) {
    if (change.kind === "catalog") {
      own.push({ kind: "catalog" });
      continue;
    }
    const { kind, id, runId } = change;
    const isOwn = known.get(runId) ?? (await tenantOf(runId)) === tenant;
    known.set(runId, isOwn);
    if (isOwn) own.push({ kind, id });
  }
  return own;
}
