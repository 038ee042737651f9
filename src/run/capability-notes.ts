/** What the commands of a run asked of the capabilities: each call for its log, all of them counted for its result. */
import { setTimeout as wait } from "node:timers/promises";
import type { AuditEntry } from "../capabilities/capability-broker.ts";
import type { CapabilityUse, RunEventBody } from "../events/run-event.ts";
import { compareText } from "../foundation/diagnostic.ts";

export type CapabilityCall = Omit<Extract<RunEventBody, { type: "capability-called" }>, "type" | "step">;

export interface CapabilityListener {
  onCall(call: CapabilityCall): void;
  /** The host failed; commands are told no more than that. */
  onFault(message: string): void;
}

export interface CapabilityNotes {
  note(entry: AuditEntry): void;
  /** A call that is under way. */
  follow<Value>(call: Promise<Value>): Promise<Value>;
  noteFault(fault: unknown): void;
  /** Hears of all that was before, such as calls of a toolset that was being loaded, and of what comes. */
  listen(listener: CapabilityListener): void;
  /** Waits for what is under way, not for long, and tells nothing after that: the end of a run is the last of its log. */
  end(): Promise<void>;
  /** Sorted; empty where nothing was called. */
  list(): readonly CapabilityUse[];
}

/** A call is cancelled with the command that made it; one that does not listen is left behind. */
const GRACE_MS = 2000;

type Tell = (listener: CapabilityListener) => void;

export function createCapabilityNotes(): CapabilityNotes {
  const early: Tell[] = [];
  const used = new Map<string, CapabilityUse>();
  const underWay = new Set<Promise<unknown>>();
  let tell = (what: Tell): void => void early.push(what);
  return {
    note(entry) {
      const call = readEntry(entry);
      if (call === undefined) return;
      const { capability, operation } = call;
      const what = { capability, ...(operation !== undefined && { operation }) };
      const key = Object.values(what).join(" ");
      const { calls, failed } = used.get(key) ?? { calls: 0, failed: 0 };
      used.set(key, { ...what, calls: calls + 1, failed: failed + (isPerformed(call) ? 0 : 1) });
      tell(({ onCall }) => onCall(call));
    },
    follow(call) {
      underWay.add(call);
      return call.finally(() => underWay.delete(call));
    },
    noteFault(fault) {
      const reason = fault instanceof Error ? fault.message : String(fault);
      tell(({ onFault }) => onFault(`A capability could not be performed, the host failed: ${reason}`));
    },
    listen(listener) {
      tell = (what) => what(listener);
      for (const what of early.splice(0)) what(listener);
    },
    async end() {
      const isOver = new AbortController();
      const grace = wait(GRACE_MS, undefined, isOver).catch(() => undefined); // All have ended before.
      await Promise.race([Promise.allSettled(underWay), ...(underWay.size > 0 ? [grace] : [])]);
      isOver.abort();
      tell = () => undefined;
    },
    list: () => [...used].sort(([a], [b]) => compareText(a, b)).map(([, use]) => use),
  };
}

/** Nothing for what is no call, or has only begun. */
function readEntry(entry: AuditEntry): CapabilityCall | undefined {
  const { action, capability, operation, account, mutating = false, outcome, requestId, durationMs } = entry;
  if (action !== "invoke" || outcome === "started") return undefined;
  return {
    capability,
    ...(operation !== undefined && { operation }),
    ...(account !== undefined && { account }),
    mutating,
    outcome,
    requestId,
    durationMs,
  };
}

function isPerformed({ outcome }: CapabilityCall): boolean {
  return outcome === "ok" || outcome === "repeat";
}
