import { describe, expect, test } from "vitest";
import { distinctName, folderName } from "../src/files/open-contained.ts";

describe("names of folders", () => {
  test("a plain name is its own", () => {
    for (const name of ["alice", "pdf-tools", "u_1", "a.b"]) expect(folderName(name)).toBe(name);
  });

  test("any other name becomes a safe one that no other name has", () => {
    const names = [
      "Alice",
      "alice ",
      "../x",
      "",
      ".",
      "..",
      "a/b",
      "a\0b",
      "ä",
      "x".repeat(300),
      "a@b",
      "-a",
    ];
    const folders = names.map(folderName);
    for (const folder of folders) expect(folder).toMatch(/^[a-z0-9_-]{0,40}@[0-9a-f]{16}$/);
    expect(new Set(folders).size).toBe(names.length);
    expect(folderName(folderName("Alice"))).not.toBe(folderName("Alice"));
  });

  test("the same name stands apart by what it stands for", () => {
    expect(distinctName("pdf", "/a/pdf")).not.toBe(distinctName("pdf", "/b/pdf"));
  });
});
