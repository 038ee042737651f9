/**
 * Flushing the write-ahead log of a database without blocking, once for all who wait at the same time. A commit that does not
 * wait for the disk writes to that log; what was in it when it is flushed outlasts a power cut, as if SQLite had flushed it
 * with every commit.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { flushFolder } from "@metier/base/files";

const flushFile = promisify(fdatasync);

export interface LogFlusher {
  /** Resolves when all that was committed before this call is on the disk. */
  flush(): Promise<void>;
  close(): void;
}

/** `file`: of the database, which is open. */
export function openLogFlusher(file: string): LogFlusher {
  let descriptor: number | undefined;
  let present: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const start = (): Promise<void> => {
    if (descriptor === undefined) {
      descriptor = openSync(`${file}-wal`, "r");
      flushFolder(dirname(file)); // So that the log itself is found again.
    }
    present = flushFile(descriptor).finally(() => {
      present = undefined;
    });
    return present;
  };
  return {
    flush() {
      if (present === undefined) return start();
      // The one under way may have begun before the commit; whoever comes meanwhile shares the one after it.
      next ??= present
        .catch(() => undefined) // Told to those who wait for that one.
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
