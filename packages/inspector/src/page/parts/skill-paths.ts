/** API paths about skills. */

export const CATALOG = "/v1/catalog";

/** `address`: `scope:name`, or a name alone for the skill that wins it. */
export function skillPath(address: string): string {
  return `${CATALOG}/skills/${encodeURIComponent(address)}`;
}

export function skillFilePath(address: string, path: string): string {
  return `${skillPath(address)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

export function skillDiffPath(address: string, from: string, to: string): string {
  return `${skillPath(address)}/diff?${new URLSearchParams({ from, to })}`;
}

export function findPath(request: string): string {
  return `${CATALOG}/find?${new URLSearchParams({ q: request })}`;
}

export function listingPath(budget: number): string {
  return `${CATALOG}/listing?budget=${budget}`;
}
