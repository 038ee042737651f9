/** `desk.mail` over a real maildir. */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAIL_OPERATIONS } from "../mail.ts";
import type { Call, JsonObject } from "../operation.ts";
import { makeCall, makeMail, perform, putMail } from "./world.ts";

function ask(call: Call, name: string, input: JsonObject = {}) {
  return perform(MAIL_OPERATIONS, name, input, call);
}

async function ids(call: Call, input: JsonObject): Promise<readonly string[]> {
  return (await ask(call, "list_messages", input)).messages.map(({ id }: { id: string }) => id);
}

test("lists a folder, newest first, by words and by what was read", async () => {
  const call = makeCall();
  putMail(call.folder, "100.a", makeMail("Invoice 7", "Please pay the RENT."), "S");
  putMail(call.folder, "1300.b", makeMail("Lunch?"));
  putMail(call.folder, "200.c", makeMail("=?utf-8?Q?Gr=C3=BC=C3=9Fe?="), "FS");
  putMail(call.folder, "50.d", makeMail("Old"), "S", "Archive");
  expect(await ids(call, {})).toEqual(["1300.b", "200.c", "100.a"]);
  expect(await ids(call, { limit: 1 })).toEqual(["1300.b"]);
  expect(await ids(call, { unread_only: true })).toEqual(["1300.b"]);
  expect(await ids(call, { query: "rent bob" })).toEqual(["100.a"]);
  expect(await ids(call, { folder: "Archive" })).toEqual(["50.d"]);
  expect(await ask(call, "list_messages", { query: "grüße" })).toMatchObject({
    messages: [
      { from: "Bob <bob@example.com>", subject: "Grüße", date: "2026-03-03T09:00:00.000Z", unread: false },
    ],
    total: 3,
    unread: 1,
  });
  await expect(ask(call, "list_messages", { folder: "../.." })).rejects.toThrow("Folders: INBOX, Archive.");
});

test("reads a message with its attachments, which stay where they are", async () => {
  const call = makeCall();
  const parts = [
    "--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n",
    '--b\r\nContent-Type: application/pdf; name="bill.pdf"\r\n\r\nx\r\n--b--\r\n',
  ];
  putMail(
    call.folder,
    "1.a",
    makeMail("Bill", parts.join(""), "Content-Type: multipart/mixed; boundary=b\r\n"),
  );
  const read = await ask(call, "read_message", { id: "1.a" });
  expect(read).toMatchObject({
    to: "anna@example.org",
    attachments: [{ name: "bill.pdf", type: "application/pdf" }],
  });
  expect(read.text.trim()).toBe("See the file.");
  putMail(call.folder, "2.b", makeMail("Page", "<p>Hello <b>Anna</b></p>", "Content-Type: text/html\r\n"));
  expect((await ask(call, "read_message", { id: "2.b" })).text.trim()).toBe("Hello Anna");
  await expect(ask(call, "read_message", { id: "../../etc/passwd" })).rejects.toThrow("No message");
});

test("shows neither credentials nor hidden characters", async () => {
  const call = makeCall();
  const jwt = `${Buffer.from('{"alg":"HS256"}').toString("base64url")}.e30.${"a".repeat(20)}`;
  putMail(
    call.folder,
    "1.a",
    makeMail(`Your token ${jwt}`, `Dear Anna,\nuse ${jwt}\n\u202eso\u0000on\u200b.`),
  );
  const { subject, text } = await ask(call, "read_message", { id: "1.a" });
  expect(subject).toBe("[left out: looks like a credential]");
  expect(text.trim()).toBe("Dear Anna,\n[left out: looks like a credential]\nsoon.");
});

test("bounds what a sender makes large or deep, and passes over what is not a message", async () => {
  const call = makeCall();
  putMail(call.folder, "1.long", makeMail("Long", "y".repeat(200_000)));
  expect((await ask(call, "read_message", { id: "1.long" })).text).toHaveLength(50_000);
  const open = (depth: number) => `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`;
  const nested = Array.from({ length: 200 }, (_, depth) => open(depth)).join("");
  putMail(call.folder, "2.deep", `Subject: deep\r\n${nested}`);
  putMail(call.folder, ".hidden", makeMail("hidden"), "S");
  const place = join(call.folder, "mail", "cur");
  writeFileSync(join(call.folder, "secret"), makeMail("secret"));
  symlinkSync(join(call.folder, "secret"), join(place, "3.link:2,S"));
  mkdirSync(join(place, "4.folder:2,S"));
  expect(await ids(call, {})).toEqual(["1.long"]);
  await expect(ask(call, "read_message", { id: "3.link" })).rejects.toThrow("cannot be read");
});

test("archives a message with its flags, and can do it again", async () => {
  const call = makeCall();
  putMail(call.folder, "1.a", makeMail("x"), "FS");
  expect(await ask(call, "archive_message", { id: "1.a" })).toEqual({
    id: "1.a",
    folder: "Archive",
    changed: true,
  });
  expect(await ask(call, "archive_message", { id: "1.a" })).toMatchObject({ changed: false });
  expect(readdirSync(join(call.folder, "mail", ".Archive", "cur"))).toEqual(["1.a:2,FS"]);
});

test("sends once for each key, even after the message has moved on", async () => {
  const call = makeCall();
  const input = { to: ["bob@example.com"], subject: "Grüße", text: "Zeile eins\nÄ" };
  const first = await ask(call, "send_message", input);
  expect(first).toMatchObject({ to: ["bob@example.com"], sent: true });
  expect(await ask(call, "send_message", input)).toEqual({ ...first, sent: false });
  await ask(call, "archive_message", { id: first.id });
  expect(await ask(call, "send_message", input)).toEqual({ ...first, sent: false });
  expect(await ask({ ...call, key: "k2" }, "send_message", input)).toMatchObject({ sent: true });
  const outbox = join(call.folder, "mail", ".Outbox", "cur");
  const [name = "", ...others] = readdirSync(outbox);
  expect(others).toEqual([]);
  expect(statSync(join(outbox, name)).mode & 0o777).toBe(0o600);
  const sent = await ask(call, "read_message", { id: name.split(":")[0] ?? "" });
  expect(sent).toMatchObject({ from: "Anna <anna@example.org>", to: "bob@example.com", subject: "Grüße" });
  expect(sent.text.trim()).toBe("Zeile eins\nÄ");
});

test("nobody writes a header of their own", async () => {
  const account = { id: "anna", name: 'Änne "B"\r\nBcc: evil@example.org', email: "anna@example.org" };
  const call = makeCall({ account });
  await ask(call, "send_message", {
    to: ["b@example.com"],
    subject: "x\r\nBcc: evil@example.org",
    text: "y",
  });
  const outbox = join(call.folder, "mail", ".Outbox", "cur");
  const content = readFileSync(join(outbox, readdirSync(outbox)[0] ?? ""), "utf8");
  expect(content).not.toMatch(/^bcc:/im);
});
