/** Tier 1 as `<available_skills>`, each skill an element of its own; guidance follows as plain text. */
import { escapeXml } from "./escape-xml.ts";
import type { Listing, ListingEntry, ListingFormat } from "./listing.ts";

export const xmlFormat: ListingFormat = {
  multiline: true,
  render: renderListing,
  entryPiece: (entry) => `${renderEntry(entry)}\n`,
  namePiece: (name) => `${escapeXml(name)}\n`,
  escape: escapeXml,
};

function renderListing({ entries, names, guidance, more }: Listing): string {
  const elements = [...entries.map(renderEntry), ...renderNames(names)];
  const block =
    elements.length === 0 ? "" : ["<available_skills>", ...elements, "</available_skills>"].join("\n");
  const words = [guidance, more].filter((text) => text !== "").join("\n");
  return [block, words].filter((text) => text !== "").join("\n\n");
}

function renderEntry({ name, description, location, origin }: ListingEntry): string {
  return [
    "<skill>",
    `<name>${escapeXml(name)}</name>`,
    ...(description === undefined ? [] : [`<description>${escapeXml(description)}</description>`]),
    ...(location === undefined ? [] : [`<location>${escapeXml(location)}</location>`]),
    ...(origin === undefined ? [] : [`<origin>${escapeXml(origin)}</origin>`]),
    "</skill>",
  ].join("\n");
}

/** One a line: an element each would cost four times as many tokens. */
function renderNames(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : ["<other_skills>", ...names.map(escapeXml), "</other_skills>"];
}
