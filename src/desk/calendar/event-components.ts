/** The events of a calendar file as they stand there; alarms and whatever else is nested in them are passed over. */
import { type ContentLine, readContentLines } from "./content-lines.ts";

export interface EventComponent {
  readonly properties: readonly ContentLine[];
  /** The line of the file with `END:VEVENT`. */
  readonly endLine: number;
}

export function readEventComponents(lines: readonly string[]): readonly EventComponent[] {
  const events: EventComponent[] = [];
  const open: string[] = [];
  let properties: ContentLine[] = [];
  for (const line of readContentLines(lines)) {
    const kind = line.value.trim().toUpperCase();
    if (line.name === "BEGIN") {
      open.push(kind);
      if (kind === "VEVENT") properties = [];
    } else if (line.name === "END") {
      if (kind === "VEVENT" && open.at(-1) === "VEVENT") events.push({ properties, endLine: line.from });
      const started = open.lastIndexOf(kind);
      if (started !== -1) open.length = started;
    } else if (open.at(-1) === "VEVENT") properties.push(line);
  }
  return events;
}

export function propertyOf({ properties }: EventComponent, name: string): ContentLine | undefined {
  return properties.find((line) => line.name === name);
}
