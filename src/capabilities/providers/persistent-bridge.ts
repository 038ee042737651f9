/**
 * A bridge that stays: the envelopes of `bridge-v1`, one on each line, through one process that lives on between calls. It
 * is started by the first call, anew after a crash (later each time it fails), and ended when nobody has asked for a while.
 *
 * A bridge opts in by answering line after line until its standard input ends; such a bridge also works as one process for
 * each call, where there is one line. The config says which of both it is: `persistent = true`.
 */
import { type Answer, done, refuse } from "../capability-fault.ts";
import { type BridgeConnection, connectBridge } from "./bridge-connection.ts";
import { type BridgeExchange, type ExchangeParts, providerClosed } from "./bridge-exchange.ts";
import type { Refused } from "./tidy-fault.ts";

export interface PersistenceTimes {
  /** How long nobody asks before the process is ended. */
  readonly idleMs?: number;
  /** How long the first wait after failed starts is; each further one is twice as long. */
  readonly pauseMs?: number;
}

const IDLE_MS = 300_000;
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

export function createPersistentBridge(parts: ExchangeParts, times: PersistenceTimes = {}): BridgeExchange {
  const { name, timeoutMs } = parts;
  const { idleMs = IDLE_MS, pauseMs = PAUSE_MS } = times;
  /** Those that run, the current one among them. */
  const open = new Set<BridgeConnection>();
  let current: BridgeConnection | undefined;
  let starting: Promise<Answer<BridgeConnection>> | undefined;
  let failures = 0;
  let notBefore = 0;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** One that ends before it answered anything has failed; the first time may have been chance. */
  const onOver = (connection: BridgeConnection): void => {
    failures = connection.answered > 0 || isClosed ? 0 : failures + 1;
    const pause = failures < 2 ? 0 : Math.min(MAX_PAUSE_MS, pauseMs * 2 ** (failures - 2));
    notBefore = performance.now() + pause;
    if (current === connection) current = undefined;
  };

  async function start(): Promise<Answer<BridgeConnection>> {
    const wait = notBefore - performance.now();
    if (wait > 0) return failsToStart(name, failures, Math.ceil(wait / 1000));
    const launched = await parts.launch();
    if (!launched.ok) return launched;
    if (isClosed) return providerClosed(name);
    current = connectBridge({ name, launch: launched.value, timeoutMs, onOver });
    open.add(current);
    return done(current);
  }

  function connect(): Promise<Answer<BridgeConnection>> {
    if (isClosed) return Promise.resolve(providerClosed(name));
    if (current && !current.isOver && !current.isSpent) return Promise.resolve(done(current));
    starting ??= start().finally(() => {
      starting = undefined;
    });
    return starting;
  }

  const endNow = async (connection: BridgeConnection): Promise<void> => {
    await connection.end();
    open.delete(connection);
  };

  /** What nobody waits for any more is let go: at once when it is not to be used again, otherwise after a while. */
  const rest = (connection: BridgeConnection): void => {
    if (connection.waiting > 0) return;
    if (connection !== current || connection.isSpent) {
      void endNow(connection);
      return;
    }
    clearTimeout(idle); // Calls that end together each come here.
    idle = setTimeout(() => void endNow(connection), idleMs).unref();
  };

  return {
    async ask(request, signal) {
      clearTimeout(idle);
      const connected = await connect();
      if (!connected.ok) return connected;
      clearTimeout(idle);
      const answer = await connected.value.ask(request, signal);
      rest(connected.value);
      return answer;
    },
    async close() {
      isClosed = true;
      clearTimeout(idle);
      await starting;
      await Promise.all([...open].map(endNow));
    },
  };
}

function failsToStart(name: string, failures: number, seconds: number): Refused {
  return refuse(
    "capability_backend_unavailable",
    `The provider \`${name}\` ended ${failures} times in a row before it answered anything; it is started again in ${seconds} seconds.`,
    { hint: "`metier capability providers` says how it is.", retryAfterSeconds: seconds },
  );
}
