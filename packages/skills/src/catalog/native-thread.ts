/**
 * The second thread without JavaScript (`native/` in this package): it starts at once, and needs no compiler and no garbage
 * collector. The build makes it on Linux where there is a C compiler. It leaves out whatever is unusual.
 */
import { nativeCode } from "@metier/base/files";
import { SKIPPED_FOLDERS } from "../sources/search.ts";
import { followBatches, openFetched } from "./fetched-batch.ts";
import type { SecondThread } from "./second-thread.ts";
import { settledBefore } from "./stamps.ts";

/** What `native/addon.c` exports. Each function returns `undefined` if it could not do its work. */
interface Native {
  /** Names end in a zero. */
  readAhead(root: string, folders: string, skipped: string, withHeads: boolean): Handle | undefined;
  takeBatch(fetching: Handle, number: number): readonly [lines: string, heads: string] | undefined;
  checkStamps(
    root: string,
    index: ArrayBuffer,
    start: number,
    end: number,
    settledMs: number,
  ): Handle | undefined;
  areUnchanged(checking: Handle): boolean | undefined;
}

/** Its thread ends with it. */
type Handle = { readonly brand: "handle" };

const NO_BYTES = new ArrayBuffer(0);

export function startNativeThread(): SecondThread | undefined {
  const native = nativeCode() as Native | undefined;
  if (native === undefined) return undefined;
  const { readAhead, takeBatch, checkStamps, areUnchanged } = native;
  return {
    readAhead({ root, folders, withHeads }) {
      const fetching = readAhead(root, endNames(folders), endNames([...SKIPPED_FOLDERS]), withHeads);
      return followBatches(folders, (number) => {
        const batch = fetching && takeBatch(fetching, number);
        return batch && openFetched({ lines: batch[0], heads: batch[1], bytes: NO_BYTES });
      });
    },
    checkStamps({ root, bytes, firstByte, endByte, writtenAt }) {
      const checking = checkStamps(root, bytes, firstByte, endByte, settledBefore(writtenAt));
      return {
        isUnchanged: () => checking && true,
        end: () => checking === undefined || areUnchanged(checking) === true,
      };
    },
    dismiss: () => undefined,
  };
}

/** A name with a zero in it cannot be; one with other odd characters is left out there. */
function endNames(names: readonly string[]): string {
  return names.map((name) => `${name}\0`).join("");
}
