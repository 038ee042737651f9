/** Lets a whole run, which resolves names by the machine, take servers on loopback for public sites. */
import { SYSTEM_ADDRESSES } from "@metier/sandbox/egress";
import { onTestFinished, vi } from "vitest";
import { addressBook } from "./loopback-site.ts";

/** Names and where they lead, until the test ends; other names lead nowhere. */
export function pretendPublic(names: Readonly<Record<string, readonly string[]>>): void {
  const book = addressBook(names);
  const spies = [
    vi.spyOn(SYSTEM_ADDRESSES, "resolve").mockImplementation(book.resolve),
    vi.spyOn(SYSTEM_ADDRESSES, "isPublic").mockImplementation(book.isPublic),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
}
