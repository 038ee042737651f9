/** Messages of all kinds: coded headers, charsets, parts, and what someone sends to do harm. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAddresses } from "../../../src/desk/mail/addresses.ts";
import { composeMessage } from "../../../src/desk/mail/compose-message.ts";
import { decodeWords, encodeWords } from "../../../src/desk/mail/encoded-words.ts";
import { readHeaderValue } from "../../../src/desk/mail/header-value.ts";
import { MAX_TEXT_CHARACTERS } from "../../../src/desk/mail/limits.ts";
import { type ReadMessage, readMessage } from "../../../src/desk/mail/read-message.ts";
import { mail } from "../../support/desk.ts";

function read(text: string | Buffer): ReadMessage {
  return readMessage(Buffer.from(text as string));
}

/** Lines of a part, with the line ends of mail. */
function lines(...parts: readonly string[]): string {
  return parts.join("\r\n");
}

describe("headers", () => {
  test.each([
    ["=?utf-8?Q?Gr=C3=BC=C3=9Fe_aus_Wien?=", "Grüße aus Wien"],
    ["=?UTF-8?B?SGVsbG8g8J+Riw==?=", "Hello 👋"],
    ["=?iso-8859-1?q?caf=E9?= au lait", "café au lait"],
    ["=?utf-8*de?Q?=C3=A4?=", "ä"],
    // Blanks between two coded words are dropped, and a character may be cut in two by their border.
    ["=?utf-8?B?w6Q=?= =?utf-8?B?w7Y=?=", "äö"],
    ["=?utf-8?Q?=C3?=\r\n =?utf-8?Q?=A4?=", "ä"],
    ["=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"],
    ["=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"],
    ["=?nobody-knows?Q?=C3=A4?=", "ä"],
    ["=?utf-8?X?abc?=", "=?utf-8?X?abc?="],
    ["=?utf-8?B?", "=?utf-8?B?"],
  ])("%s reads %s", (raw, text) => {
    expect(decodeWords(raw)).toBe(text);
  });

  test("bytes that do not belong there are read as UTF-8, or as Western text", () => {
    expect(decodeWords(Buffer.from("Grüße").toString("latin1"))).toBe("Grüße");
    expect(decodeWords("Gr\xfc\xdfe")).toBe("Grüße");
  });

  test("what is coded is decoded again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const clean = text.replace(/\p{Surrogate}|\ufeff/gu, "");
        expect(decodeWords(encodeWords(clean))).toBe(clean);
      }),
      { numRuns: 100 },
    );
  });

  test("addresses are taken apart before they are decoded", () => {
    const raw =
      '"Doe, Jane" <jane@example.org>, =?utf-8?Q?M=C3=BCller=2C_Udo?= <udo@example.org>, plain@example.org (Old Form)';
    expect(readAddresses(raw)).toEqual([
      { address: "jane@example.org", name: "Doe, Jane" },
      { address: "udo@example.org", name: "Müller, Udo" },
      { address: "plain@example.org", name: "Old Form" },
    ]);
    expect(readAddresses("Team: a@example.org, b@example.org;")).toEqual([
      { address: "a@example.org" },
      { address: "b@example.org" },
    ]);
    expect(readAddresses(undefined)).toEqual([]);
    expect(readAddresses("undisclosed-recipients:;")).toEqual([]);
  });

  test("parameters come plain, quoted, coded and in pieces", () => {
    const value = readHeaderValue(
      `attachment; filename*0*=utf-8''%e2%82%ac%20; filename*1="rates.pdf"; name="a\\"b.txt"; x*=utf-8''%C3%A4`,
    );
    expect(value.value).toBe("attachment");
    expect(value.parameter("filename")).toBe("€ rates.pdf");
    expect(value.parameter("name")).toBe('a"b.txt');
    expect(value.parameter("x")).toBe("ä");
    expect(value.parameter("constructor")).toBeUndefined();
  });

  test("a folded header is one line, and the first of two counts", () => {
    const message = read("Subject: one\r\n two\r\nSubject: other\r\nX: y\r\n\r\nText.");
    expect(message.envelope.subject).toBe("one two");
    expect(message.text).toBe("Text.");
  });

  test.each([["Tue, 99 Foo 2026"], ["Mon, 1 Jan 9999 00:00:00 +0000"], [""]])(
    "the date %j is none",
    (date) => {
      expect(read(mail("x", "y", { Date: date })).envelope.date).toBeUndefined();
    },
  );
});

describe("text", () => {
  test("quoted-printable and charsets are undone", () => {
    const header = {
      "Content-Type": "text/plain; charset=iso-8859-1",
      "Content-Transfer-Encoding": "quoted-printable",
    };
    expect(read(mail("x", "caf=E9 =\r\nau lait =ZZ 1=3D1", header)).text).toBe("café au lait =ZZ 1=1");
  });

  test("of alternatives the plain one is shown; without it, the words of the page", () => {
    const html = "<p>Hello <b>Anna</b></p><script>alert(1)</script><a href='https://example.org/x'>link</a>";
    const page = lines("--b", "Content-Type: text/html; charset=utf-8", "", html);
    const plain = lines("--b", "Content-Type: text/plain", "", "Hello plain");
    const header = { "Content-Type": 'multipart/alternative; boundary="b"' };
    expect(read(mail("x", lines(page, plain, "--b--"), header)).text).toBe("Hello plain");
    const { text } = read(mail("x", lines(page, "--b--"), header));
    expect(text).toContain("Hello Anna");
    expect(text).toContain("https://example.org/x");
    expect(text).not.toContain("alert");
  });

  test("attachments are named and measured, not shown", () => {
    const body = lines(
      "A preamble.",
      "--outer",
      "Content-Type: text/plain",
      "",
      "See the file.",
      "--outer",
      'Content-Type: application/pdf; name="=?utf-8?Q?Rechnung_=E2=82=AC.pdf?="',
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.alloc(1000, "x").toString("base64"),
      "--outer",
      "Content-Type: message/rfc822",
      "",
      "Subject: inner",
      "",
      "Inner text.",
      "--outer--",
      "An epilogue.",
    );
    const message = read(mail("x", body, { "Content-Type": "multipart/mixed; boundary=outer" }));
    expect(message.text).toBe("See the file.");
    expect(message.attachments).toEqual([
      { name: "Rechnung €.pdf", type: "application/pdf", size: 1000 },
      { name: "unnamed", type: "message/rfc822", size: 29 },
    ]);
  });

  test("a message without its last boundary, or without a body, is read as far as it goes", () => {
    const header = { "Content-Type": "multipart/mixed; boundary=x" };
    expect(read(mail("s", lines("--x", "", "cut off"), header)).text).toBe("cut off");
    expect(read("Subject: only").envelope.subject).toBe("only");
    expect(read("").text).toBe("");
  });
});

describe("mail that means harm", () => {
  test("control, invisible and bidirectional characters are taken out", () => {
    const message = read(
      mail("=?utf-8?Q?a=00b=1B[31m=E2=80=AEc=0D=0ABcc:_x?=", "one\u0000\u202etwo\u200b\u001b[0m"),
    );
    expect(message.envelope.subject).toBe("ab[31mc Bcc: x");
    expect(message.text).toBe("onetwo[0m");
  });

  test("parts within parts end at a depth, and their number at a limit", () => {
    const nested = (depth: number): string =>
      depth === 0
        ? "deep"
        : lines(
            `Content-Type: multipart/mixed; boundary=b${depth}`,
            "",
            `--b${depth}`,
            nested(depth - 1),
            `--b${depth}--`,
          );
    expect(read(`Subject: s\r\n${nested(200)}`).envelope.subject).toBe("s");
    const many = Array.from({ length: 5_000 }, () => lines("--b", "Content-Type: image/png", "", "x")).join(
      "\r\n",
    );
    const { attachments } = read(mail("x", many, { "Content-Type": "multipart/mixed; boundary=b" }));
    expect(attachments.length).toBeLessThanOrEqual(50);
  });

  test("headers without an end, long lines and endless boundaries are bounded", () => {
    const header = `Subject: ${"=?utf-8?Q?a?= ".repeat(50_000)}`;
    expect(read(header).envelope.subject.length).toBeLessThanOrEqual(500);
    const parameters = `text/plain${'; a="b'.repeat(20_000)}`;
    expect(readHeaderValue(parameters).value).toBe("text/plain");
    const dashes = mail("x", "-".repeat(500_000), { "Content-Type": "multipart/mixed; boundary=-" });
    expect(read(dashes).text.length).toBe(MAX_TEXT_CHARACTERS);
    const long = read(mail("x", "y".repeat(3 * MAX_TEXT_CHARACTERS)));
    expect([long.text.length, long.isTextCut]).toEqual([MAX_TEXT_CHARACTERS, true]);
  });

  test("no bytes make it throw, and what it answers is plain text", () => {
    const piece = fc.oneof(
      fc.constantFrom("--b\r\n", "--b--", "\r\n\r\n", "Content-Type: multipart/mixed; boundary=b\r\n"),
      fc.constantFrom("=?utf-8?B?", "?=", "Content-Transfer-Encoding: base64\r\n", 'From: <a@b>,"', "\\"),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.uint8Array(), (pieces, bytes) => {
        const message = readMessage(Buffer.concat([Buffer.from(pieces.join("")), bytes]));
        expect(JSON.stringify(message)).not.toMatch(/\\u00(?:0[0-8]|1[0-9a-f])/);
      }),
      { numRuns: 300 },
    );
  });
});

test("what is composed is read again, and nobody writes a header of their own", () => {
  const content = composeMessage({
    from: { name: 'Änne "The" Boss\r\nBcc: evil@example.org', address: "anna@example.org" },
    to: ["bob@example.com", "eve@example.com"],
    cc: ["carl@example.com"],
    subject: "Grüße\r\nBcc: evil@example.org",
    text: "Zeile eins\nÄ\n.\nDrei",
    inReplyTo: "<1@example.com>",
    messageId: "<2@desk.invalid>",
    date: new Date("2026-03-03T11:00:00Z"),
  });
  const { envelope, text } = read(content);
  expect(content.split("\r\n\r\n")[0]).not.toMatch(/^bcc:/im);
  expect(content.split("\r\n").every((line) => line.length <= 998)).toBe(true);
  expect(envelope).toMatchObject({
    from: { address: "anna@example.org" },
    subject: "Grüße Bcc: evil@example.org",
    date: "2026-03-03T11:00:00.000Z",
    messageId: "<2@desk.invalid>",
  });
  expect(envelope.to.map(({ address }) => address)).toEqual(["bob@example.com", "eve@example.com"]);
  expect(text).toBe("Zeile eins\nÄ\n.\nDrei");
});
