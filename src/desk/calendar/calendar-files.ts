/** The calendar of an account: files `*.ics` in one folder, each with any number of events. */
import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../../host/write-atomic.ts";
import { readRegularFile } from "../read-regular-file.ts";
import { type CalendarEvent, readEvent } from "./calendar-event.ts";
import { joinLines, splitLines } from "./content-lines.ts";
import { type EventComponent, readEventComponents } from "./event-components.ts";

export interface CalendarFile {
  readonly name: string;
  readonly lines: readonly string[];
  readonly components: readonly EventComponent[];
}

export interface KeptEvent {
  readonly event: CalendarEvent;
  readonly component: EventComponent;
  readonly file: CalendarFile;
}

const FILE = /^[^./\p{Cc}][^/\p{Cc}]{0,200}\.ics$/u;
const MAX_FILES = 5_000;
const MAX_BYTES = 5_000_000;
const MAX_BYTES_TOGETHER = 50_000_000;

export function listCalendarNames(folder: string): readonly string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .filter((name) => FILE.test(name))
    .sort()
    .slice(0, MAX_FILES);
}

/** `isComplete`: nothing was too large or too much to be read. */
export function readEvents(
  folder: string,
  zone: string,
): { readonly events: readonly KeptEvent[]; readonly isComplete: boolean } {
  const events: KeptEvent[] = [];
  let isComplete = true;
  let left = MAX_BYTES_TOGETHER;
  for (const name of listCalendarNames(folder)) {
    const read = readRegularFile(join(folder, name), Math.min(MAX_BYTES, left));
    if (!read) continue;
    if (read.size > read.bytes.length) {
      isComplete = false; // Half a file may say the opposite of the whole.
      continue;
    }
    left -= read.size;
    const lines = splitLines(read.bytes);
    const file = { name, lines, components: readEventComponents(lines) };
    for (const component of file.components) {
      const event = readEvent(component, zone);
      if (event) events.push({ event, component, file });
    }
  }
  return { events, isComplete };
}

export function writeCalendarFile(folder: string, name: string, lines: readonly string[]): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(join(folder, name), joinLines(lines));
}
