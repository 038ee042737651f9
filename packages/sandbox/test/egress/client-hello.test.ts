import { describe, expect, test } from "vitest";
import { clientHello } from "../../../../test/support/proxy-client.ts";
import { readClientHello } from "../../src/egress/pass-on.ts";

describe("a ClientHello", () => {
  test("says for which host it is meant", async () => {
    expect(readClientHello(await clientHello("Site.Test"))).toEqual({
      kind: "hello",
      serverName: "site.test",
    });
  });

  test("may name none", async () => {
    expect(readClientHello(await clientHello())).toEqual({ kind: "hello" });
  });

  test("is waited for until it is whole, and is the same with more behind it", async () => {
    const whole = await clientHello("site.test");
    for (let length = 0; length < whole.length; length += 1) {
      expect(readClientHello(whole.subarray(0, length))).toEqual({ kind: "incomplete" });
    }
    const more = Buffer.concat([whole, Buffer.from("more")]);
    expect(readClientHello(more)).toMatchObject({ serverName: "site.test" });
  });

  test.each([
    ["plain HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["an SSH greeting", Buffer.from("SSH-2.0-x\r\n")],
    ["another record of TLS", Buffer.from([0x17, 3, 3, 0, 1, 0])],
    ["a record that is too long", Buffer.from([0x16, 3, 1, 0xff, 0xff])],
    ["a record without a message", Buffer.from([0x16, 3, 1, 0, 1, 1])],
    ["another message", Buffer.from([0x16, 3, 1, 0, 4, 2, 0, 0, 0])],
  ])("is not %s", (_, bytes) => {
    expect(readClientHello(bytes)).toEqual({ kind: "none" });
  });

  test("can be broken anywhere without a fault", async () => {
    const whole = await clientHello("site.test");
    for (let index = 0; index < whole.length; index += 1) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const bytes = Buffer.from(whole);
        bytes[index] = value;
        expect(() => readClientHello(bytes)).not.toThrow();
      }
    }
  });

  test("that is spread over two records is none, since no client sends it so", async () => {
    const whole = await clientHello("site.test");
    const record = (bytes: Buffer): Buffer => {
      return Buffer.concat([Buffer.from([0x16, 3, 1, bytes.length >> 8, bytes.length & 0xff]), bytes]);
    };
    const split = Buffer.concat([record(whole.subarray(5, 13)), record(whole.subarray(13))]);
    expect(readClientHello(split)).toEqual({ kind: "none" });
  });

  test("that names two hosts is for neither", async () => {
    const whole = await clientHello("site.test");
    const name = Buffer.from("site.test");
    const at = whole.indexOf(name) - 9;
    const extension = whole.subarray(at, at + 9 + name.length);
    const twice = Buffer.concat([whole.subarray(0, at), extension, whole.subarray(at)]);
    grow(twice, 3, 2, extension.length); // record
    grow(twice, 6, 3, extension.length); // message
    grow(twice, extensionsAt(whole), 2, extension.length);
    expect(readClientHello(twice)).toEqual({ kind: "none" });
  });
});

function grow(bytes: Buffer, at: number, size: number, by: number): void {
  bytes.writeUIntBE(bytes.readUIntBE(at, size) + by, at, size);
}

/** Where the length of all extensions stands. */
function extensionsAt(bytes: Buffer): number {
  let at = 5 + 4 + 2 + 32;
  at += 1 + bytes.readUInt8(at);
  at += 2 + bytes.readUInt16BE(at);
  return at + 1 + bytes.readUInt8(at);
}
