/**
 * Listens to channels on its own connection, which recovers after a Postgres restart. Nothing reports that such a
 * connection is dead, because it is never asked anything; so it must hear itself regularly, or it is replaced.
 */
import type { Pool } from "./open-pool.ts";

interface NoticeListener {
  /** A channel that only this process listens to: anything that arrives there is a sign of life. */
  readonly ownChannel: string;
  /** Resolves when it listens. */
  hear(channel: string): Promise<void>;
  /** Something arrived on the process's own channel. */
  expectOwn(): void;
  close(): Promise<void>;
}

interface ListenerOptions {
  readonly id: string;
  open(): Pool;
  onPayload(channel: string, text: string): void;
  /** It listens again, or for the first time: something may have been missed. */
  onListening(): void;
}

/** How many signs of life in a row may be sent and not heard. */
const MOST_UNHEARD = 2;
const CLOSE_SECONDS = 1;

export function openListener({ id, open, onPayload, onListening }: ListenerOptions): NoticeListener {
  const ownChannel = `metier_own_${id}`;
  const channels = new Map<string, Promise<void>>();
  let pool = open();
  let unheard = 0;
  const listen = (channel: string): Promise<void> => {
    const by = pool;
    const onText = (text: string): void => {
      if (by !== pool) return;
      if (channel === ownChannel) unheard = 0;
      else onPayload(channel, text);
    };
    return new Promise((resolve) => {
      const onListen = (): void => {
        resolve();
        if (by === pool) onListening();
      };
      // If it fails, the driver retries for as long as the pool is open.
      by.listen(channel, onText, onListen).catch(() => undefined);
    });
  };
  const listenAll = (): void => {
    for (const channel of channels.keys()) channels.set(channel, listen(channel));
  };
  const hear = (channel: string): Promise<void> => {
    const heard = channels.get(channel) ?? listen(channel);
    channels.set(channel, heard);
    return heard;
  };
  void hear(ownChannel);
  return {
    ownChannel,
    hear,
    expectOwn() {
      unheard += 1;
      if (unheard <= MOST_UNHEARD) return;
      const dead = pool;
      unheard = 0;
      pool = open();
      void dead.end({ timeout: 0 });
      listenAll();
    },
    close: () => pool.end({ timeout: CLOSE_SECONDS }),
  };
}
