/** Output that is data: one JSON object or list and nothing else. A number or a word alone is just text. */
import type { Json } from "../skill/manifest.ts";

export function readJsonOutput(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // It only begins like one.
  }
}
