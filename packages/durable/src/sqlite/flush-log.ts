/**
 * Flushes a database's write-ahead log without blocking, once for everyone waiting at the same time. A commit that
 * doesn't wait for the disk writes to that log; once flushed, it survives a power cut, as if SQLite had flushed it with
 * every commit.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { flushFolder } from "@metier/base/files";

const flushFile = promisify(fdatasync);

export interface LogFlusher {
  /** Resolves when everything committed before this call is on the disk. */
  flush(): Promise<void>;
  close(): void;
}

/** `file`: the database, which is open. */
export function openLogFlusher(file: string): LogFlusher {
  let descriptor: number | undefined;
  let present: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const start = (): Promise<void> => {
    if (descriptor === undefined) {
      descriptor = openSync(`${file}-wal`, "r");
      flushFolder(dirname(file)); // So that the log itself is found again after a power cut.
    }
    present = flushFile(descriptor).finally(() => {
      present = undefined;
    });
    return present;
  };
  return {
    flush() {
      if (present === undefined) return start();
      // The flush in progress may have started before the commit; everyone who comes in the meantime shares the next
      // one.
      next ??= present
        .catch(() => undefined) // Reported to those who wait for it.
        .then(() => {
          next = undefined;
          return start();
        });
      return next;
    },
    close() {
      const close = (): void => {
        if (descriptor !== undefined) closeSync(descriptor);
        descriptor = undefined;
      };
      // Closing the database has flushed it; this only waits until the descriptor is free.
      if (present === undefined) close();
      else void (next ?? present).then(close, close);
    },
  };
}
