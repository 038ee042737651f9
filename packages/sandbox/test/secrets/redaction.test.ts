import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createRedactor, type Redactor } from "../../src/secrets/redaction.ts";

const KEY = { name: "API_KEY", value: 'k3y/+&"\\ <ä😀>=%41' };

function redactorFor(...values: readonly string[]): Redactor {
  return createRedactor(values.map((value, index) => ({ name: `S${index}`, value })));
}

function escapeUnits(text: string): string {
  return [...Array(text.length).keys()]
    .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`)
    .join("");
}

const FORMS: readonly (readonly [name: string, write: (text: string) => string])[] = [
  ["itself", (text) => text],
  ["JSON", (text) => JSON.stringify(text)],
  ["JSON inside of JSON", (text) => JSON.stringify(JSON.stringify(text))],
  ["JSON with every unit escaped", escapeUnits],
  [
    "upper-case unicode escapes",
    (text) => escapeUnits(text).replace(/\\u(.{4})/g, (_, hex: string) => `\\u${hex.toUpperCase()}`),
  ],
  ["URL component", encodeURIComponent],
  [
    "URL component in lower case",
    (text) => encodeURIComponent(text).replace(/%../g, (hex) => hex.toLowerCase()),
  ],
  ["URL component of a URL component", (text) => encodeURIComponent(encodeURIComponent(text))],
  ["form", (text) => String(new URLSearchParams({ x: text }))],
  ["URL with every byte escaped", (text) => Buffer.from(text).toString("hex").replace(/../g, "%$&")],
  ["base64", (text) => Buffer.from(text).toString("base64")],
  ["base64 behind one byte", (text) => Buffer.from(`:${text}:`).toString("base64")],
  ["base64 behind two bytes", (text) => Buffer.from(`::${text}::`).toString("base64")],
  ["base64 for URLs", (text) => Buffer.from(`user:${text}`).toString("base64url")],
  ["base64 in short lines", (text) => Buffer.from(text).toString("base64").replace(/.{5}/g, "$&\n")],
  [
    "base64 in lines, inside JSON",
    (text) => JSON.stringify(Buffer.from(text).toString("base64").replace(/.{7}/g, "$&\r\n")),
  ],
  ["base64 inside a URL", (text) => encodeURIComponent(Buffer.from(text).toString("base64"))],
  ["hexadecimal", (text) => Buffer.from(text).toString("hex")],
  ["upper-case hexadecimal", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ["markup", (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)],
  [
    "named entities",
    (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;"),
  ],
  ["bytes as a program escapes them", (text) => Buffer.from(text).toString("hex").replace(/../g, "\\x$&")],
];

/** The text in pieces of the given lengths, the last one repeated as needed. */
function inPieces(text: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0, index = 0; at < text.length; index++) {
    const length = lengths[index % lengths.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

function redactInPieces(redactor: Redactor, text: string, lengths: readonly number[]): string {
  const stream = redactor.stream();
  return (
    inPieces(text, lengths)
      .map((piece) => stream.push(piece))
      .join("") + stream.end()
  );
}

describe("a secret", () => {
  test.each(FORMS)("is replaced in this form: %s", (_, write) => {
    const redactor = createRedactor([KEY]);
    const written = write(KEY.value);
    const redacted = redactor.redact(`before ${written} after`);
    expect(redacted).toContain("[redacted:API_KEY]");
    expect(redacted).toMatch(/^before .*\[redacted:API_KEY\].{0,6} after$/s);
    expect(redacted.length).toBeLessThan("before [redacted:API_KEY] after".length + 12);
  });

  test("that has several lines is found line by line, but not by the armour of a key file", () => {
    const value = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n";
    const redactor = createRedactor([{ name: "PEM", value }]);
    expect(redactor.redact("line MIIEvQIBADANBg alone")).toBe("line [redacted:PEM] alone");
    expect(redactor.redact(`<${value}>`)).toBe("<[redacted:PEM]>");
    expect(redactor.redact("-----BEGIN KEY-----")).toBe("-----BEGIN KEY-----");
  });

  test("with blanks around it is found without them", () => {
    expect(redactorFor("  hunter2hunter2\n").redact("is hunter2hunter2.")).toBe("is [redacted:S0].");
  });

  test("leaves nothing over where it overlaps another one; the longer one is named", () => {
    const redactor = redactorFor("abcdefgh", "abcdefghijkl", "ijklmnopqrstuvw");
    expect(redactor.redact("abcdefgh")).toBe("[redacted:S0]");
    expect(redactor.redact("abcdefghijkl")).toBe("[redacted:S1]");
    expect(redactor.redact("abcdefghijklmnopqrstuvw.")).toBe("[redacted:S2].");
    expect(redactor.redact("abcdefghabcdefgh")).toBe("[redacted:S0][redacted:S0]");
  });

  test("shorter than eight characters is not redacted, and said so", () => {
    const redactor = createRedactor([{ name: "PIN", value: "1234567" }]);
    expect(redactor.redact("1234567")).toBe("1234567");
    expect(redactor.diagnostics).toMatchObject([{ code: "secret.short", severity: "warning" }]);
    expect(redactor.diagnostics[0]?.message).toContain("`PIN`");
    expect(redactor.diagnostics[0]?.message).not.toContain("1234567");
  });

  test("that is empty is none", () => {
    const redactor = redactorFor("");
    expect([redactor.redact("text"), redactor.diagnostics]).toEqual(["text", []]);
  });

  test.each([
    ["a name that is no plain word", { name: "a\u001b]b", value: "topsecret1" }, "[redacted]"],
    ["a name that spells the secret", { name: "topsecret1", value: "topsecret1" }, "[redacted]"],
    ["a secret that the placeholder would spell", { name: "X", value: "redacted" }, "••••"],
  ])("is not given away by its placeholder: %s", (_, secret, placeholder) => {
    expect(createRedactor([secret]).redact(`<${secret.value}>`)).toBe(`<${placeholder}>`);
  });
});

test("a text that was clean is searched again when a secret has come in, and after very much else", () => {
  const redactor = redactorFor("first-secret");
  const text = "a second-secret";
  expect(redactor.redact(text)).toBe(text);
  redactor.add({ name: "S1", value: "second-secret" });
  expect(redactor.redact(text)).toBe("a [redacted:S1]");
  for (const digit of "12345") redactor.redact(digit.repeat(1_000_000));
  expect(redactor.redact(text)).toBe("a [redacted:S1]");
});

describe("plain data", () => {
  verifies(185, "is redacted in texts, keys and numbers, and keeps its shape", () => {
    const redactor = createRedactor([
      { name: "TOKEN", value: "hunter2hunter2" },
      { name: "CARD", value: "4111111111111111" },
    ]);
    const date = new Date(0);
    expect(
      redactor.redactJson({
        list: ["a hunter2hunter2 b", 4111111111111111, 7, null, true],
        hunter2hunter2: { date },
      }),
    ).toEqual({
      list: ["a [redacted:TOKEN] b", "[redacted:CARD]", 7, null, true],
      "[redacted:TOKEN]": { date },
    });
  });

  test("cannot reach a prototype or exhaust the stack", () => {
    const redactor = redactorFor("hunter2hunter2");
    const value = redactor.redactJson(JSON.parse('{"__proto__": {"polluted": "hunter2hunter2"}}'));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toContain("[redacted:S0]");
    const deep = Array.from({ length: 5000 }).reduce<unknown>((inner) => [inner], "hunter2hunter2");
    expect(JSON.stringify(redactor.redactJson(deep))).not.toContain("hunter2");
  });

  test("is copied only where something in it is redacted", () => {
    const message = { role: "user", content: [{ text: "plain text" }] };
    const [same, other] = redactorFor("secret-value").redactJson([message, { text: "secret-value" }]);
    expect(same).toBe(message);
    expect(other).toEqual({ text: "[redacted:S0]" });
  });

  test("stays the same object where there is nothing to redact", () => {
    const value = { a: ["b"] };
    expect(createRedactor([]).redactJson(value)).toBe(value);
  });
});

describe("a stream", () => {
  test("gives out what is certain at once", () => {
    const stream = redactorFor("open sesame").stream();
    expect(stream.push("the word is open")).toBe("the word is ");
    expect(stream.push("ing")).toBe("opening");
    expect(stream.push(", open sesame")).toBe(", [redacted:S0]");
    expect(stream.push("open sesam")).toBe("");
    expect(stream.end()).toBe("open sesam");
  });

  test("does not hold a text back for blank lines without end", () => {
    const stream = redactorFor("hunter2hunter2").stream();
    const blank = "\n".repeat(1000);
    expect(stream.push(`hunter2${blank}`).length).toBeGreaterThan(900);
  });

  test("knows a secret that is added while it is open", () => {
    const redactor = createRedactor([]);
    const stream = redactor.stream();
    expect(stream.push("first hunter2hunter2, ")).toBe("first hunter2hunter2, ");
    redactor.add({ name: "LATE", value: "hunter2hunter2" });
    expect(stream.push("then hunter2h")).toBe("then ");
    redactor.add({ name: "LATER", value: "correct horse" });
    expect(stream.push("unter2 and correct horse") + stream.end()).toBe(
      "[redacted:LATE] and [redacted:LATER]",
    );
  });
});

describe("for any secrets, texts and pieces", () => {
  /** Few letters and much that is escaped, so that near misses and overlaps are common. */
  const secret = fc
    .string({
      unit: fc.constantFrom("a", "b", "A", " ", "+", "/", "%", "&", '"', "\\", "<", "ä", "😀", "=", "4", "1"),
      minLength: 8,
      maxLength: 20,
    })
    .filter((text) => text.trim().length >= 8);
  const secrets = fc.array(secret, { minLength: 1, maxLength: 3 });
  const form = fc.constantFrom(...FORMS.map(([, write]) => write));
  const filler = fc.string({
    unit: fc.constantFrom("a", "b", "%", "4", "1", "\\", "u", "0", "\n", "&", ";", " "),
    maxLength: 12,
  });
  const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

  /** The blank ends what may look like an escape: `%` before `ab…` would make another character of it. */
  test("no form of a secret is left", () => {
    fc.assert(
      fc.property(secrets, filler, filler, form, (values, before, after, write) => {
        const redactor = redactorFor(...values);
        for (const value of values) {
          const redacted = redactor.redact(`${before} ${write(value)}${after}`);
          expect(redacted).not.toContain(value);
          expect(redacted).not.toContain(write(value));
          expect(redacted).toMatch(/\[redacted:S\d\]/);
        }
      }),
    );
  });

  test("a stream gives the same as the whole text, whatever the pieces", () => {
    fc.assert(
      fc.property(
        secrets,
        fc.array(fc.tuple(filler, fc.nat(2), form), { minLength: 1, maxLength: 4 }),
        lengths,
        (values, parts, sizes) => {
          const text = parts
            .map(([fill, index, write]) => fill + write(values[index % values.length] ?? ""))
            .join("");
          const redactor = redactorFor(...values);
          expect(redactInPieces(redactor, text, sizes)).toBe(redactor.redact(text));
        },
      ),
    );
  });

  test("a text without secrets is unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), lengths, (text, sizes) => {
        const redactor = redactorFor("zq7-zq7-zq7-zq7", "Another/Secret+99");
        expect(redactor.redact(text)).toBe(text);
        expect(redactInPieces(redactor, text, sizes)).toBe(text);
      }),
    );
  });

  test("redacting twice changes nothing more", () => {
    fc.assert(
      fc.property(secrets, filler, form, (values, fill, write) => {
        const redactor = redactorFor(...values);
        const once = redactor.redact(fill + write(values[0] ?? "") + fill);
        expect(redactor.redact(once)).toBe(once);
      }),
    );
  });
});
