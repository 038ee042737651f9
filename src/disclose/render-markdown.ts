/** Tier 1 as a Markdown section: guidance first, then one line per skill. */
import type { Listing, ListingEntry, ListingFormat } from "./listing.ts";

export const markdownFormat: ListingFormat = {
  multiline: false,
  render: renderListing,
  entryPiece: (entry) => `${renderEntry(entry)}\n`,
  namePiece: (name) => `, ${name}`,
  escape: (text) => text,
};

function renderListing({ entries, names, guidance, more }: Listing): string {
  const others = names.length === 0 ? "" : `${entries.length === 0 ? "" : "Also: "}${names.join(", ")}`;
  const parts = ["## Skills", guidance, entries.map(renderEntry).join("\n"), others, more];
  return parts.filter((part) => part !== "").join("\n\n");
}

function renderEntry({ name, description, location, origin }: ListingEntry): string {
  const place = location === undefined ? "" : ` (\`${location}\`)`;
  return `- **${name}**${description === undefined ? "" : `: ${description}`}${place}${origin === undefined ? "" : ` (from ${origin})`}`;
}
