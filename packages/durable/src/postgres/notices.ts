/**
 * What processes on one database tell each other, with LISTEN and NOTIFY: never inside the transaction it is about,
 * because transactions that notify commit one after another, and on separate, direct connections to Postgres.
 */
import { randomBytes } from "node:crypto";
import type { EngineTicks } from "../engine/create-engine.ts";
import type { BusNotice, NoticeBus } from "../notice-bus.ts";
import { openLivePool } from "./live-pool.ts";
import { openListener } from "./notice-listener.ts";
import { createOutbox, NOTICE_CHANNEL, readPayload, TEXT_CHANNEL, TICK_CHANNEL } from "./notice-payloads.ts";
import { openPool } from "./open-pool.ts";

/** Notices within this time of another one are sent together; a single one is sent at once. */
const TOGETHER_MS = 20;
/** How often to check whether the listening connection is alive. */
const LIFE_MS = 10_000;
const SILENCE_MS = 10_000;

interface NoticePlace {
  readonly url: string;
}

export interface PostgresNotices {
  readonly bus: NoticeBus;
  readonly ticks: EngineTicks;
  close(): Promise<void>;
}

/** Connects on its own, and reconnects after a lost connection. Notices sent in the meantime are lost. */
export function openPostgresNotices({ url }: NoticePlace): PostgresNotices {
  const id = randomBytes(8).toString("hex");
  const noticeListeners = createListeners<BusNotice>();
  const tickListeners = createListeners<void>();
  const sender = openSender(url, id);
  const listener = openListener({
    id,
    open: () => openPool(url, { most: 1 }),
    onPayload(channel, text) {
      const payload = readPayload(text);
      if (payload === undefined || payload.from === id) return;
      if (channel === TICK_CHANNEL) tickListeners.call();
      for (const notice of payload.notices) noticeListeners.call(notice);
    },
    onListening: () => tickListeners.call(),
  });
  const life = setInterval(() => {
    void sender.send([{ channel: listener.ownChannel, text: "" }]).then((isSent) => {
      if (isSent) listener.expectOwn();
    });
  }, LIFE_MS).unref();
  return {
    bus: {
      tell(notice) {
        if (notice.kind !== "watch") return sender.tell(notice);
        // Only listeners that asked for it hear what models write.
        void listener.hear(TEXT_CHANNEL).then(() => sender.tell(notice));
      },
      onNotice(hear) {
        void listener.hear(NOTICE_CHANNEL);
        return noticeListeners.add(hear);
      },
    },
    ticks: {
      tell: sender.tick,
      onTick(hear) {
        void listener.hear(TICK_CHANNEL);
        return tickListeners.add(hear);
      },
    },
    async close() {
      clearInterval(life);
      await Promise.all([sender.close(), listener.close()]);
    },
  };
}

function createListeners<Value>() {
  const listeners = new Set<(value: Value) => void>();
  return {
    add(listener: (value: Value) => void): () => void {
      const own = (value: Value): void => listener(value); // A listener that is added twice hears twice.
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    call(value: Value): void {
      for (const listener of listeners) listener(value);
    },
  };
}

type Sent = readonly { readonly channel: string; readonly text: string }[];

function openSender(url: string, id: string) {
  const outbox = createOutbox(id);
  const pool = openLivePool(() => openPool(url, { most: 1 }), SILENCE_MS);
  let timer: NodeJS.Timeout | undefined;
  let sentAt = Number.NEGATIVE_INFINITY;
  let isPlanned = false;
  let isMore = false;

  const send = async (payloads: Sent): Promise<boolean> => {
    const channels = payloads.map(({ channel }) => channel);
    const texts = payloads.map(({ text }) => text);
    try {
      await pool.ask(
        (sql) => sql`SELECT pg_notify(channel, payload)
        FROM unnest(${channels}::text[], ${texts}::text[]) WITH ORDINALITY AS told (channel, payload, number) ORDER BY number`,
      );
      return true;
    } catch {
      return false; // A process that misses a notice checks on its own after a while.
    }
  };
  const flush = async (): Promise<void> => {
    sentAt = performance.now();
    isMore = false;
    await send(outbox.take());
    isPlanned = false;
    if (isMore) plan();
  };
  const plan = (): void => {
    isMore = isPlanned;
    if (isPlanned) return;
    isPlanned = true;
    timer = setTimeout(() => void flush(), Math.max(0, sentAt + TOGETHER_MS - performance.now()));
  };
  return {
    send,
    tell(notice: BusNotice): void {
      outbox.add(notice);
      plan();
    },
    tick(): void {
      outbox.addTick();
      plan();
    },
    async close(): Promise<void> {
      isPlanned = true; // So that nothing else is.
      clearTimeout(timer);
      await pool.close();
    },
  };
}
