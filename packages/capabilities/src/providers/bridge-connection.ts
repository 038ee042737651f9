/**
 * One process that answers many requests: one line each, in any order, matched by id. A call that takes too long is
 * given up alone, unless the process sent nothing since: then it hangs and is stopped, with all pending calls.
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
  /** Its output is no longer read. */
  readonly isOver: boolean;
  /** So many of its calls were given up that the next ones go to another process. */
  readonly isSpent: boolean;
  readonly waiting: number;
  readonly answered: number;
  ask(request: BridgeRequest, signal?: AbortSignal): Promise<Answer<JsonObject>>;
  /** Closes its standard input so that it exits, and stops it if it does not. */
  end(): Promise<void>;
}

interface ConnectionParts {
  readonly name: string;
  readonly launch: Launch;
  readonly timeoutMs: number;
  /** Called once, before the pending callers are told. */
  onOver(connection: BridgeConnection): void;
}

const MAX_WAITING = 256;
const MAX_GIVEN_UP = 32;

export function connectBridge({ name, launch, timeoutMs, onOver }: ConnectionParts): BridgeConnection {
  const calls = new OpenCalls();
  let over: FaultAnswer | undefined;

  /** The first reason counts and is told to everyone who waits. */
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
    else if (!calls.take(response.value)) breakOff(violation("its `id` does not match any request"));
  };
  const readLines = createLineReader(MAX_ENVELOPE_BYTES, takeLine, () =>
    breakOff(violation(`it has a line of more than ${MAX_ENVELOPE_BYTES} bytes`)),
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
    running.write(text.value); // First, so that it works while we prepare for its answer.
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
  const message = `The provider \`${name}\` was stopped during the call, because it sent nothing for ${timeoutMs / 1000} seconds.`;
  return answerFault("capability_backend_unavailable", message, { hint: "Try again." });
}

function tooMany(name: string): FaultAnswer {
  const message = `${MAX_WAITING} calls are already waiting for the provider \`${name}\`, which is the limit.`;
  return answerFault("capability_rate_limited", message, { retryAfterSeconds: 1 });
}

interface Waiting extends Pick<ConnectionParts, "name" | "timeoutMs"> {
  readonly signal?: AbortSignal | undefined;
  onHang(): void;
}

type Settle = (answer: Answer<JsonObject>) => void;

/** Sent calls: those that wait for an answer, and those that were given up. */
class OpenCalls {
  readonly waiting = new Map<string, Settle>();
  readonly givenUp = new Set<string>();
  answered = 0;
  /** Answers received, including those to abandoned calls. */
  heard = 0;

  /** Waits for the answer to this call. The process hangs if nothing arrived before the timeout. */
  wait(id: string, { name, timeoutMs, signal, onHang }: Waiting): Promise<Answer<JsonObject>> {
    const heardBefore = this.heard;
    const { promise, resolve } = Promise.withResolvers<Answer<JsonObject>>();
    const cancel = (): void => this.giveUp(id, cancelled(name));
    const expire = (): void => {
      const hangs = this.heard === heardBefore;
      this.giveUp(id, tooLate(name, timeoutMs, hangs));
      if (hangs) onHang();
    };
    const timer = setTimeout(expire, timeoutMs); // Keeps this process alive, which the child process does not.
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
  return answerFault("capability_cancelled", `The call to the provider \`${name}\` was cancelled.`);
}

function tooLate(name: string, timeoutMs: number, hangs: boolean): FaultAnswer {
  const also = hangs
    ? ". It sent nothing in that time, so it was stopped, with everything it had started"
    : "";
  return answerFault(
    "capability_backend_unavailable",
    `The provider \`${name}\` did not answer within ${timeoutMs / 1000} seconds${also}.`,
    {
      hint: `Try again, or raise \`timeout-seconds\` in \`[capabilities.providers.${name}]\`; a bridge that answers one request and exits needs \`persistent = false\`.`,
    },
  );
}
