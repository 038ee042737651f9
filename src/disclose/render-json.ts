/** Tier 1 as JSON, one skill a line: `{skills: [{name, description?, location?, origin?}], names?, guidance?, more?}`. */
import type { Listing, ListingEntry, ListingFormat } from "./listing.ts";

export const jsonFormat: ListingFormat = {
  multiline: true,
  render: renderListing,
  entryPiece: (entry) => `${renderEntry(entry)},\n`,
  namePiece: (name) => `,${JSON.stringify(name)}`,
  escape: (text) => JSON.stringify(text).slice(1, -1),
};

function renderListing({ entries, names, guidance, more }: Listing): string {
  const rest = {
    ...(names.length === 0 ? {} : { names }),
    ...(guidance === "" ? {} : { guidance }),
    ...(more === "" ? {} : { more }),
  };
  const fields = Object.entries(rest).map(
    ([key, value]) => `,\n${JSON.stringify(key)}:${JSON.stringify(value)}`,
  );
  return `{"skills":[${renderLines(entries)}]${fields.join("")}}`;
}

function renderLines(entries: readonly ListingEntry[]): string {
  return entries.length === 0 ? "" : `\n${entries.map(renderEntry).join(",\n")}\n`;
}

function renderEntry({ name, description, location, origin }: ListingEntry): string {
  return JSON.stringify({ name, description, location, origin });
}
