/** Opens stores in a place of its own for each test, and closes them after it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Opened, Stores } from "./opened.ts";

export function newPlace(): string {
  const place = mkdtempSync(join(tmpdir(), "metier-durable-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

export async function openIn(stores: Stores, place: string): Promise<Opened> {
  const opened = await stores.open(place);
  onTestFinished(() => opened.close());
  return opened;
}

export function openNew(stores: Stores): Promise<Opened> {
  return openIn(stores, newPlace());
}
