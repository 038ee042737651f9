/** The events of all runs that a run started, directly or not. Reloaded while one of them is in progress. */
import type { ApiRunEvent } from "@metier/service/api";
import { useEffect, useRef, useState } from "preact/hooks";
import { readEvents } from "../state/live.ts";
import { eventText } from "./read-event.ts";

const MOST_RUNS = 50;
const AGAIN_MS = 2_000;

type EventsByRun = ReadonlyMap<string, readonly ApiRunEvent[]>;

export function useChildEvents(events: readonly ApiRunEvent[]): EventsByRun {
  const [known, setKnown] = useState<EventsByRun>(new Map());
  const latest = useRef(known);
  const wanted = childIds(events).join(" ");
  useEffect(() => {
    if (wanted === "") return undefined;
    let isOpen = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      const found = await readChildren(wanted.split(" "), latest.current);
      if (!isOpen) return;
      latest.current = found;
      setKnown(found);
      if ([...found.values()].some((list) => !hasEnded(list)))
        timer = setTimeout(() => void look(), AGAIN_MS);
    };
    void look();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [wanted]);
  return known;
}

async function readChildren(ids: readonly string[], known: EventsByRun): Promise<EventsByRun> {
  const found = new Map<string, readonly ApiRunEvent[]>();
  const queue = [...ids];
  for (const id of queue) {
    if (found.has(id) || found.size >= MOST_RUNS) continue;
    const before = known.get(id);
    const events = before && hasEnded(before) ? before : ((await readEvents(id)) ?? before ?? []);
    found.set(id, events);
    queue.push(...childIds(events));
  }
  return found;
}

function hasEnded(events: readonly ApiRunEvent[]): boolean {
  return events.at(-1)?.type === "run-finished";
}

function childIds(events: readonly ApiRunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === "child-started" ? [eventText(event, "childRunId") ?? ""].filter(Boolean) : [],
  );
}
