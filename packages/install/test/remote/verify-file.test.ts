import { digestBytes } from "@metier/base/digest";
import { expect, test } from "vitest";
import { verifyFile, verifyFrontmatter } from "../../src/remote/fetch-skill.ts";
import { checkEntry } from "../../src/remote/remote-entry.ts";

const URI = "skill://refunds/SKILL.md";

function verify(content: object, text = "abcd"): ReturnType<typeof verifyFile> {
  const file = { path: "SKILL.md", uri: URI, size: Buffer.byteLength(text), digest: digestBytes(text) };
  return verifyFile("docs", file, { contents: [{ uri: URI, ...content }] });
}

test("text and base64 are the bytes they stand for", () => {
  expect(verify({ text: "äbc\r\n" }, "äbc\r\n")).toMatchObject({ ok: true });
  expect(verify({ blob: Buffer.from("abcd").toString("base64") })).toMatchObject({ ok: true });
});

test("base64 that is not written as it should be is refused, and so is what is neither", () => {
  for (const content of [{ blob: "YWJj ZA==" }, { blob: "YWJjZA" }, { blob: "YWJjZB==" }, { text: 1 }, {}]) {
    expect(verify(content), JSON.stringify(content)).toMatchObject({
      refusal: { code: "remote.content" },
    });
  }
});

test("an answer without contents is refused", () => {
  const file = { path: "SKILL.md", uri: URI, size: 1, digest: "" };
  for (const result of [{}, { contents: [] }, { contents: "x" }]) {
    expect(verifyFile("docs", file, result)).toMatchObject({ refusal: { code: "remote.content" } });
  }
});

test("frontmatter is compared field by field, whatever the order, and without conversion", async () => {
  const differences = async (yaml: string, declared: object): Promise<string | undefined> => {
    const frontmatter = { name: "refunds", description: "It is one.", ...declared };
    const resources = [{ uri: URI, digest: digestBytes(""), size: 0 }];
    const checked = checkEntry({ uri: URI, frontmatter, resources });
    if (!checked.ok) throw new Error("The entry is wrong.");
    const text = `---\n${yaml}\nname: refunds\ndescription: It is one.\n---\nBody.\n`;
    return (await verifyFrontmatter("docs", checked.value, Buffer.from(text)))?.message;
  };
  expect(
    await differences("metadata: { a: x, b: [1, 2] }", { metadata: { b: [1, 2], a: "x" } }),
  ).toBeUndefined();
  expect(await differences("version: 1.0", { version: 1 })).toBeUndefined();
  expect(await differences("version: 1.0", { version: "1.0" })).toContain("`version` differ");
  expect(await differences("license: MIT", {})).toContain("`license` differ");
  expect(await differences("", { license: "MIT" })).toContain("`license` differ");
  expect(await differences("hooks: { a: 1 }", { hooks: { a: 2 } })).toContain("`hooks` differ");
});
