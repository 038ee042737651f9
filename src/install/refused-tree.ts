/** What an archive or folder does that nothing installable may do. Thrown while it is read, a fault for whoever asked. */
import { cancelledFault, type FaultOutcome, faulty } from "./install-fault.ts";

type RefusalCode = "source.unsafe" | "source.limited" | "source.damaged" | "source.failed";

const HINTS: Readonly<Record<RefusalCode, string>> = {
  "source.unsafe": "Nothing of it was installed. Tell its author, or get it from somewhere else.",
  "source.limited":
    "Nothing of it was installed. Ask its author for a smaller package, or install from its repository.",
  "source.damaged": "Nothing of it was installed. Download it again, or tell its author.",
  "source.failed": "Nothing of it was installed. Wait until nothing writes to it any more, then try again.",
};

export class RefusedTree extends Error {
  readonly code: RefusalCode | "cancelled";

  constructor(code: RefusalCode | "cancelled", message: string) {
    super(message);
    this.code = code;
  }
}

/** Any other fault is the machine's own, and is thrown on. `what`: the archive or folder. */
export function describeRefusal(fault: unknown, what: string): FaultOutcome {
  if (!(fault instanceof RefusedTree)) throw fault;
  if (fault.code === "cancelled") return cancelledFault();
  return faulty(fault.code, `${what} is refused. ${fault.message}`, HINTS[fault.code]);
}

/** Between two files: whether someone called it off. */
export function stopIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new RefusedTree("cancelled", "It was called off.");
}
