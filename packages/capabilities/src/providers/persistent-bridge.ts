/**
 * A persistent bridge: `bridge-v1` messages, one per line, through one process that lives between calls. The first call
 * starts it, a crash restarts it (with a growing delay), and it stops after it has been idle for a while.
 * A bridge supports this if it answers line after line until its standard input ends; such a bridge also works as one
 * process per call. The config chooses: `persistent = true`.
 */
import { type Answer, answerFault, answerWith } from "../capability.ts";
import { type BridgeConnection, connectBridge } from "./bridge-connection.ts";
import { type BridgeExchange, type ExchangeParts, providerClosed } from "./bridge-provider.ts";

export interface PersistenceTimes {
  /** How long the bridge may be idle before its process is stopped. */
  readonly idleMs?: number | undefined;
  /** The first delay after failed starts; each further one is twice as long. */
  readonly pauseMs?: number | undefined;
}

const IDLE_MS = 300_000;
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

export function createPersistentBridge(parts: ExchangeParts, times: PersistenceTimes = {}): BridgeExchange {
  const { name, timeoutMs } = parts;
  const { idleMs = IDLE_MS, pauseMs = PAUSE_MS } = times;
  const starts = countFailedStarts(pauseMs);
  const open = keepOpen(idleMs);
  let current: BridgeConnection | undefined;
  let starting: Promise<Answer<BridgeConnection>> | undefined;
  let isClosed = false;

  /** A process that exits before it answers has failed. */
  const onOver = (connection: BridgeConnection): void => {
    starts.note(connection.answered > 0 || isClosed);
    if (current === connection) current = undefined;
  };

  async function start(): Promise<Answer<BridgeConnection>> {
    const wait = starts.waitMs();
    if (wait > 0) {
      const retryAfterSeconds = Math.ceil(wait / 1000);
      const message = `The provider \`${name}\` exited ${starts.failures()} times in a row before it answered; the next start is in ${retryAfterSeconds} seconds.`;
      const hint = "Check its state with `metier capability providers`.";
      return answerFault("capability_backend_unavailable", message, { hint, retryAfterSeconds });
    }
    const launched = await parts.launch();
    if (!launched.ok) return launched;
    if (isClosed) return providerClosed(name);
    current = connectBridge({ name, launch: launched.value, timeoutMs, onOver });
    open.add(current);
    return answerWith(current);
  }

  function connect(): Promise<Answer<BridgeConnection>> {
    if (isClosed) return Promise.resolve(providerClosed(name));
    if (current && !current.isOver && !current.isSpent) return Promise.resolve(answerWith(current));
    starting ??= start().finally(() => {
      starting = undefined;
    });
    return starting;
  }

  return {
    async ask(request, signal) {
      open.wake();
      const connected = await connect();
      if (!connected.ok) return connected;
      open.wake();
      const answer = await connected.value.ask(request, signal);
      open.rest(connected.value, connected.value === current);
      return answer;
    },
    async close() {
      isClosed = true;
      open.wake();
      await starting;
      await open.endAll();
    },
  };
}

/** Running connections, until nobody waits for them anymore. */
function keepOpen(idleMs: number) {
  const open = new Set<BridgeConnection>();
  /** One timer for all idle periods: a busy bridge has thousands. */
  let resting: BridgeConnection | undefined;
  const idle = setTimeout(() => resting && void endNow(resting), idleMs).unref();
  const endNow = async (connection: BridgeConnection): Promise<void> => {
    await connection.end();
    open.delete(connection);
  };
  return {
    add: (connection: BridgeConnection) => void open.add(connection),
    wake(): void {
      resting = undefined;
    },
    /** Ends it at once if it is not used again, otherwise after a while. */
    rest(connection: BridgeConnection, isCurrent: boolean): void {
      if (connection.waiting > 0) return;
      if (!isCurrent || connection.isSpent) {
        void endNow(connection);
        return;
      }
      resting = connection;
      idle.refresh();
    },
    endAll: async (): Promise<void> => void (await Promise.all([...open].map(endNow))),
  };
}

/** After which failures the next start waits, and how long: the first failure may be chance. */
function countFailedStarts(pauseMs: number) {
  let failures = 0;
  let notBefore = 0;
  return {
    failures: () => failures,
    waitMs: () => notBefore - performance.now(),
    note(isFine: boolean): void {
      failures = isFine ? 0 : failures + 1;
      const pause = failures < 2 ? 0 : Math.min(MAX_PAUSE_MS, pauseMs * 2 ** (failures - 2));
      notBefore = performance.now() + pause;
    },
  };
}
