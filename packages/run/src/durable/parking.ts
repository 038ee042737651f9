/**
 * How a durable run waits for a person: its call is left as it is, the loop stops once nothing else is in progress, and
 * the run goes back to the engine. Only the question of a waiting call is recorded; after the answer, the call starts
 * over.
 */

/** Why a run left this process before it ended. */
export type Leave = "parked" | "released" | "lost";

export interface Parking {
  /** Why it is leaving, once it is. */
  readonly leave: Leave | undefined;
  /** Called once. */
  onLeave(stop: () => void): void;
  /** This call waits for a person. Returns when the run is stopped; whatever the call does then doesn't count. */
  wait(callId: string, signal: AbortSignal): Promise<void>;
  isWaiting(callId: string): boolean;
  /** A call starts, or the model is asked: until `end`, the run doesn't park. */
  begin(): void;
  end(): void;
  /** At the next step, because the worker is stopping or the lease is gone. */
  go(why: Leave): void;
}

/** The AI SDK starts the calls of one answer one after another; a run that parks waits for them. */
const SETTLE_MS = 25;

export function createParking(): Parking {
  const waiting = new Set<string>();
  let active = 0;
  let leave: Leave | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const go = (why: Leave): void => {
    if (leave !== undefined) return;
    leave = why;
    stop();
  };
  const consider = (): void => {
    clearTimeout(timer);
    if (waiting.size === 0 || active > 0) return;
    timer = setTimeout(() => active === 0 && go("parked"), SETTLE_MS);
  };
  return {
    get leave() {
      return leave;
    },
    onLeave(listener) {
      stop = listener;
      if (leave !== undefined) listener();
    },
    async wait(callId, signal) {
      waiting.add(callId);
      active -= 1;
      consider();
      if (!signal.aborted) {
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      active += 1;
    },
    isWaiting: (callId) => waiting.has(callId),
    begin() {
      active += 1;
      clearTimeout(timer);
    },
    end() {
      active -= 1;
      consider();
    },
    go,
  };
}
