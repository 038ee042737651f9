/**
 * Where the reader is, as the part of the address after `#`: `#/runs/abc?step=3`. It holds everything a view
 * remembers, so that a link, the back button and a reload show the same thing. Also works from a file.
 */
import { signal } from "@preact/signals";

interface Address {
  /** Decoded parts of the path: `["runs", "abc"]`. */
  readonly path: readonly string[];
  readonly query: ReadonlyMap<string, string>;
}

export const address = signal<Address>(readAddress(location.hash));

addEventListener("hashchange", () => {
  address.value = readAddress(location.hash);
});

function readAddress(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return {
    path: path.split("/").filter(Boolean).map(decode),
    query: new Map(new URLSearchParams(query)),
  };
}

/** Accepts anything a person typed: a broken escape stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Query = Readonly<Record<string, string | undefined>>;

/** For `href`: `linkTo(["runs", id], { step: "3" })`. Empty values are left out. */
export function linkTo(path: readonly string[], query: Query = {}): string {
  const words = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(words).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

export function goTo(path: readonly string[], query: Query = {}): void {
  location.hash = linkTo(path, query);
}

/** Changes the part after `?` and keeps the rest. Typing replaces the current entry, so it doesn't fill the history. */
export function changeQuery(changes: Query, how: "push" | "replace" = "replace"): void {
  const { path, query } = address.value;
  const hash = linkTo(path, { ...Object.fromEntries(query), ...changes });
  if (how === "push") {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  address.value = readAddress(hash);
}
