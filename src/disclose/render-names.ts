/** Tier 1 as a summary: the names alone. */
import type { Listing, ListingFormat } from "./listing.ts";

export const namesFormat: ListingFormat = {
  multiline: false,
  render: renderListing,
  entryPiece: ({ name }) => `, ${name}`,
  namePiece: (name) => `, ${name}`,
  escape: (text) => text,
};

function renderListing({ entries, names, guidance, more }: Listing): string {
  const all = [...entries.map(({ name }) => name), ...names];
  const list = all.length === 0 ? "" : `Available skills: ${all.join(", ")}`;
  return [list, guidance, more].filter((part) => part !== "").join("\n\n");
}
