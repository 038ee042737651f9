/**
 * Tests that need the native second thread, which the build makes where there is a C compiler. Elsewhere there is nothing
 * to test; with `METIER_REQUIRE_NATIVE=1`, as in CI, that is a failure.
 */
import { startNativeThread } from "../../src/catalog/native-thread.ts";

const isBuilt = startNativeThread() !== undefined;

if (!isBuilt && process.env.METIER_REQUIRE_NATIVE === "1") {
  throw new Error(
    "The native thread is required but was not built. Install a C compiler and run `npm run build`.",
  );
}

/** One, or none. */
export const nativeThreads = isBuilt ? [{ kind: "the native thread", start: startNativeThread }] : [];
