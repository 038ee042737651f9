/**
 * One process that answers many requests: a line for each, in any order, told apart by their ids. A call that takes too long
 * is given up alone, unless nothing at all was heard since: then the process hangs and is ended, with all that wait for it.
 */
import { PassThrough } from "node:stream";
import { createLineReader } from "../../sandbox/read-lines.ts";
import type { JsonObject } from "../capability.ts";
import { type Answer, refuse } from "../capability-fault.ts";
import {
  type BridgeRequest,
  MAX_ENVELOPE_BYTES,
  parseObject,
  readParsed,
  violation,
  writeRequest,
} from "./bridge-envelope.ts";
import { providerClosed } from "./bridge-exchange.ts";
import type { Launch } from "./provider-launch.ts";
import { describeEnd, runProvider } from "./provider-process.ts";
import type { Refused } from "./tidy-fault.ts";

export interface BridgeConnection {
  /** Nothing it says is heard any more. */
  readonly isOver: boolean;
  /** So many of its calls were given up that the next ones go to another process. */
  readonly isSpent: boolean;
  readonly waiting: number;
  readonly answered: number;
  ask(request: BridgeRequest, signal?: AbortSignal): Promise<Answer<JsonObject>>;
  /** Lets it end by closing its standard input, and ends it if it does not. */
  end(): Promise<void>;
}

export interface ConnectionParts {
  readonly name: string;
  readonly launch: Launch;
  readonly timeoutMs: number;
  /** Told once, before those who wait are. */
  onOver(connection: BridgeConnection): void;
}

type Settle = (answer: Answer<JsonObject>) => void;

const MAX_WAITING = 256;
const MAX_GIVEN_UP = 32;
const END_GRACE_MS = 2000;
/** The longest that a timer takes. */
const LIFETIME_MS = 2 ** 31 - 1;

export function connectBridge({ name, launch, timeoutMs, onOver }: ConnectionParts): BridgeConnection {
  const requests = new PassThrough();
  const killer = new AbortController();
  const waiting = new Map<string, Settle>();
  const givenUp = new Set<string>();
  let answered = 0;
  let heard = 0;
  let over: Refused | undefined;

  /** The first reason counts. Whoever waits is told it. */
  const finish = (reason: Refused): void => {
    if (over === undefined) {
      over = reason;
      onOver(connection);
    }
    for (const settle of [...waiting.values()]) settle(over);
  };
  const breakOff = (reason: Refused): void => {
    finish(reason);
    killer.abort();
  };
  const takeResponse = (response: JsonObject): void => {
    heard += 1;
    const id = typeof response.id === "string" ? response.id : "";
    const settle = waiting.get(id);
    if (settle !== undefined) {
      answered += 1;
      settle(readParsed(response, id));
    } else if (!givenUp.delete(id)) {
      breakOff(violation("its `id` is that of no request"));
    }
  };
  const takeLine = (line: string): void => {
    if (over !== undefined || line.trim() === "") return;
    const response = parseObject(line);
    if (typeof response === "string") breakOff(violation(response));
    else takeResponse(response);
  };
  const readLines = createLineReader(MAX_ENVELOPE_BYTES, takeLine, () =>
    breakOff(violation(`a line of it has more than ${MAX_ENVELOPE_BYTES} bytes`)),
  );

  const exited = runProvider(launch, {
    stdin: requests,
    timeoutMs: LIFETIME_MS,
    signal: killer.signal,
    isBackground: true,
    onStdout: readLines,
  }).then((ending) => finish(describeEnd(name, ending, LIFETIME_MS)));

  function ask(request: BridgeRequest, signal?: AbortSignal): Promise<Answer<JsonObject>> {
    const { id } = request;
    const text = writeRequest(request);
    const refused = over ?? (waiting.size >= MAX_WAITING ? tooMany(name) : text.ok ? undefined : text);
    if (refused) return Promise.resolve(refused);
    if (signal?.aborted) return Promise.resolve(cancelled(name));
    const heardBefore = heard;
    return new Promise((resolve) => {
      const settle: Settle = (answer) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        waiting.delete(id);
        resolve(answer);
      };
      const giveUp = (answer: Refused): void => {
        givenUp.add(id);
        settle(answer);
      };
      const cancel = (): void => giveUp(cancelled(name));
      const expire = (): void => {
        const hangs = heard === heardBefore;
        giveUp(tooLate(name, timeoutMs, hangs));
        if (hangs) breakOff(endedForHanging(name, timeoutMs));
      };
      const timer = setTimeout(expire, timeoutMs); // Keeps us running, which the process itself does not.
      signal?.addEventListener("abort", cancel, { once: true });
      waiting.set(id, settle);
      requests.write(text.ok ? text.value : "");
    });
  }

  const connection: BridgeConnection = {
    get isOver() {
      return over !== undefined;
    },
    get isSpent() {
      return givenUp.size >= MAX_GIVEN_UP;
    },
    get waiting() {
      return waiting.size;
    },
    get answered() {
      return answered;
    },
    ask,
    async end() {
      finish(providerClosed(name));
      requests.end();
      const impatience = setTimeout(() => killer.abort(), END_GRACE_MS);
      await exited;
      clearTimeout(impatience);
    },
  };
  return connection;
}

function cancelled(name: string): Refused {
  return refuse("capability_cancelled", `The call of the provider \`${name}\` was cancelled.`);
}

function tooMany(name: string): Refused {
  return refuse(
    "capability_rate_limited",
    `${MAX_WAITING} calls wait for the provider \`${name}\` already; no more are sent to it at once.`,
    { retryAfterSeconds: 1 },
  );
}

function tooLate(name: string, timeoutMs: number, hangs: boolean): Refused {
  const also = hangs ? ". It said nothing meanwhile, so it was ended, with everything it had started" : "";
  return refuse(
    "capability_backend_unavailable",
    `The provider \`${name}\` gave no answer within ${timeoutMs / 1000} seconds${also}.`,
    {
      hint: `Try again, or set a larger \`timeout-seconds\` in \`[capabilities.providers.${name}]\`; a bridge that answers one request and ends needs \`persistent = false\`.`,
    },
  );
}

function endedForHanging(name: string, timeoutMs: number): Refused {
  return refuse(
    "capability_backend_unavailable",
    `The provider \`${name}\` was ended while it worked, because it had said nothing for ${timeoutMs / 1000} seconds.`,
    { hint: "Try again." },
  );
}
