/** A value being typed, once the user pauses, so that not every letter asks the server. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Known } from "./answers.ts";

const PAUSE_MS = 200;

export function useSettled<Value>(value: Value, pauseMs: number = PAUSE_MS): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** The last answer stays until the next one arrives, even for another question, so that nothing flickers. */
export function useLastKnown<Value>(known: Known<Value>): Known<Value> {
  const last = useRef<Value | undefined>(undefined);
  if (known.value !== undefined) last.current = known.value;
  return known.value === undefined && known.isLoading ? { ...known, value: last.current } : known;
}
