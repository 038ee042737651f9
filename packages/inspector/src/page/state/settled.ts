/** A value that somebody is typing, once they pause: so that not every letter asks the server. */
import { useEffect, useState } from "preact/hooks";

const PAUSE_MS = 200;

export function useSettled<Value>(value: Value, pauseMs: number = PAUSE_MS): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
