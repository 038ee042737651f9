/**
 * One process that answers many requests: a line for each, in any order, told apart by their ids. A call that takes too long
 * is given up alone, unless nothing at all was heard since: then the process hangs and is ended, with all that wait for it.
 */
import type { JsonObject } from "@metier/base/json";
import { createLineReader } from "@metier/sandbox";
import { type Answer, answerFault, type FaultAnswer } from "../capability.ts";
import {
  type BridgeRequest,
  MAX_ENVELOPE_BYTES,
  parseObject,
  readParsed,
  violation,
  writeRequest,
} from "./bridge-protocol.ts";
import { providerClosed } from "./bridge-provider.ts";
import type { Launch } from "./provider-launch.ts";
import { describeEnd, startProvider } from "./provider-process.ts";

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

interface ConnectionParts {
  readonly name: string;
  readonly launch: Launch;
  readonly timeoutMs: number;
  /** Told once, before those who wait are. */
  onOver(connection: BridgeConnection): void;
}

const MAX_WAITING = 256;
const MAX_GIVEN_UP = 32;

export function connectBridge({ name, launch, timeoutMs, onOver }: ConnectionParts): BridgeConnection {
  const calls = new OpenCalls();
  let over: FaultAnswer | undefined;

  /** The first reason counts. Whoever waits is told it. */
  const finish = (reason: FaultAnswer): void => {
    if (over === undefined) {
      over = reason;
      onOver(connection);
    }
    calls.settleAll(over);
  };
  const breakOff = (reason: FaultAnswer): void => {
    finish(reason);
    running.kill();
  };
  const takeLine = (line: string): void => {
    if (over !== undefined || line.trim() === "") return;
    const response = parseObject(line);
    if (!response.ok) breakOff(violation(response.refusal));
    else if (!calls.take(response.value)) breakOff(violation("its `id` is that of no request"));
  };
  const readLines = createLineReader(MAX_ENVELOPE_BYTES, takeLine, () =>
    breakOff(violation(`a line of it has more than ${MAX_ENVELOPE_BYTES} bytes`)),
  );
  const running = startProvider(launch, readLines);
  void running.exited.then((ending) => finish(describeEnd(name, ending)));

  const ask: BridgeConnection["ask"] = async (request, signal) => {
    const text = writeRequest(request);
    if (over) return over;
    if (calls.waiting.size >= MAX_WAITING) return tooMany(name);
    if (!text.ok) return text;
    if (signal?.aborted) return cancelled(name);
    const onHang = (): void => breakOff(endedSilent(name, timeoutMs));
    running.write(text.value); // First: it works while we get ready for its answer.
    return calls.wait(request.id, { name, timeoutMs, signal, onHang });
  };
  const connection: BridgeConnection = {
    get isOver() {
      return over !== undefined;
    },
    get isSpent() {
      return calls.givenUp.size >= MAX_GIVEN_UP;
    },
    get waiting() {
      return calls.waiting.size;
    },
    get answered() {
      return calls.answered;
    },
    ask,
    async end() {
      finish(providerClosed(name));
      await running.end();
    },
  };
  return connection;
}

function endedSilent(name: string, timeoutMs: number): FaultAnswer {
  const message = `The provider \`${name}\` was ended while it worked, because it had said nothing for ${timeoutMs / 1000} seconds.`;
  return answerFault("capability_backend_unavailable", message, { hint: "Try again." });
}

function tooMany(name: string): FaultAnswer {
  const message = `${MAX_WAITING} calls wait for the provider \`${name}\` already; no more are sent to it at once.`;
  return answerFault("capability_rate_limited", message, { retryAfterSeconds: 1 });
}

interface Waiting extends Pick<ConnectionParts, "name" | "timeoutMs"> {
  readonly signal?: AbortSignal | undefined;
  onHang(): void;
}

type Settle = (answer: Answer<JsonObject>) => void;

/** Calls that were sent: those that wait for an answer, and those that nobody waits for any more. */
class OpenCalls {
  readonly waiting = new Map<string, Settle>();
  readonly givenUp = new Set<string>();
  answered = 0;
  /** Answers that came, also those to calls that were given up. */
  heard = 0;

  /** For the answer to this call. It hangs where nothing at all was heard until the time was over. */
  wait(id: string, { name, timeoutMs, signal, onHang }: Waiting): Promise<Answer<JsonObject>> {
    const heardBefore = this.heard;
    const { promise, resolve } = Promise.withResolvers<Answer<JsonObject>>();
    const cancel = (): void => this.giveUp(id, cancelled(name));
    const expire = (): void => {
      const hangs = this.heard === heardBefore;
      this.giveUp(id, tooLate(name, timeoutMs, hangs));
      if (hangs) onHang();
    };
    const timer = setTimeout(expire, timeoutMs); // Keeps us running, which the process itself does not.
    signal?.addEventListener("abort", cancel, { once: true });
    this.waiting.set(id, (answer) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      resolve(answer);
    });
    return promise;
  }

  /** `false`: it answers none of them. */
  take(response: JsonObject): boolean {
    this.heard += 1;
    const id = typeof response.id === "string" ? response.id : "";
    if (!this.waiting.has(id)) return this.givenUp.delete(id);
    this.answered += 1;
    this.#settle(id, readParsed(response, id));
    return true;
  }

  giveUp(id: string, answer: FaultAnswer): void {
    this.givenUp.add(id);
    this.#settle(id, answer);
  }

  settleAll(answer: FaultAnswer): void {
    for (const id of [...this.waiting.keys()]) this.#settle(id, answer);
  }

  #settle(id: string, answer: Answer<JsonObject>): void {
    const settle = this.waiting.get(id);
    this.waiting.delete(id);
    settle?.(answer);
  }
}

function cancelled(name: string): FaultAnswer {
  return answerFault("capability_cancelled", `The call of the provider \`${name}\` was cancelled.`);
}

function tooLate(name: string, timeoutMs: number, hangs: boolean): FaultAnswer {
  const also = hangs ? ". It said nothing meanwhile, so it was ended, with everything it had started" : "";
  return answerFault(
    "capability_backend_unavailable",
    `The provider \`${name}\` gave no answer within ${timeoutMs / 1000} seconds${also}.`,
    {
      hint: `Try again, or set a larger \`timeout-seconds\` in \`[capabilities.providers.${name}]\`; a bridge that answers one request and ends needs \`persistent = false\`.`,
    },
  );
}
