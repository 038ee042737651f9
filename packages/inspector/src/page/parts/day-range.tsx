/** A range of days, in the address as `from` and `to`. */
import { Button } from "../design/button.tsx";
import { TextField } from "../design/field.tsx";
import { address, changeQuery } from "../state/address.ts";

const SPANS: readonly (readonly [string, number])[] = [
  ["7 days", 7],
  ["30 days", 30],
  ["90 days", 90],
];
const DAY_MS = 86_400_000;

export function DayRange() {
  const { query } = address.value;
  const [from, to] = [query.get("from") ?? "", query.get("to") ?? ""];
  return (
    <div class="filters">
      <TextField label="From" type="date" value={from} onInput={(value) => changeQuery({ from: value })} />
      <TextField label="To" type="date" value={to} onInput={(value) => changeQuery({ to: value })} />
      <div class="row wide">
        {SPANS.map(([title, days]) => {
          const start = dayOf(Date.now() - (days - 1) * DAY_MS);
          return (
            <Button
              key={title}
              isPressed={from === start && to === ""}
              onPress={() => changeQuery({ from: start, to: undefined })}
            >
              {title}
            </Button>
          );
        })}
      </div>
    </div>
  );
}

/** `path` with the chosen days. */
export function withDays(path: string): string {
  const { query } = address.value;
  const words = new URLSearchParams();
  for (const name of ["from", "to"]) {
    const day = query.get(name);
    if (day) words.set(name, day);
  }
  const text = words.toString();
  return text === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${text}`;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
