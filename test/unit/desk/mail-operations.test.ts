/** `desk.mail` over a real maildir. */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/capabilities/capability.ts";
import type { Desk } from "../../../src/desk/desk-operation.ts";
import { MAIL_OPERATIONS } from "../../../src/desk/mail/mail-capability.ts";
import { checkJson } from "../../../src/validate/json-schema.ts";
import { createDesk, mail, putMail } from "../../support/desk.ts";

/** As the broker does it: both ways through the schemas. */
async function perform(desk: Desk, name: string, input: JsonObject = {}) {
  const operation = MAIL_OPERATIONS.find((one) => one.name === name);
  if (!operation) throw new Error(name);
  const checked = await checkJson(operation.inputSchema, input);
  if (!checked.ok) return { code: "schema", message: checked.message };
  const answer = await operation.perform(checked.value as JsonObject, desk);
  if (!answer.ok) return answer.fault;
  const output = await checkJson(operation.outputSchema, answer.value);
  expect(output).toMatchObject({ ok: true });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  return answer.value as any;
}

function ids({ messages }: { readonly messages: readonly { readonly id: string }[] }): readonly string[] {
  return messages.map(({ id }) => id);
}

describe("reading", () => {
  test("folders and messages are listed, newest first, page by page", async () => {
    const desk = createDesk();
    putMail(desk.folder, "100.a.host", mail("first"), "S");
    putMail(desk.folder, "300.c.host,S=12", mail("third"));
    putMail(desk.folder, "200.b.host", mail("second"), "FRS");
    putMail(desk.folder, "50.d.host", mail("old"), "S", "Work");
    expect(await perform(desk, "list_folders")).toEqual({
      folders: [
        { name: "INBOX", total: 3, unread: 1 },
        { name: "Work", total: 1, unread: 0 },
      ],
    });
    const page = await perform(desk, "list_messages", { limit: 2 });
    expect(ids(page)).toEqual(["300.c.host,S=12", "200.b.host"]);
    expect(page).toMatchObject({ folder: "INBOX", total: 3, unread: 1, next: "200.b.host" });
    expect(page.messages[1]).toMatchObject({
      from: { name: "Bob", address: "bob@example.com" },
      subject: "second",
      date: "2026-03-03T09:00:00.000Z",
      received_at: "1970-01-01T00:03:20.000Z",
      unread: false,
      flagged: true,
      answered: true,
    });
    const rest = await perform(desk, "list_messages", { limit: 2, after: page.next });
    expect([ids(rest), rest.next]).toEqual([["100.a.host"], undefined]);
    expect(ids(await perform(desk, "list_messages", { unread_only: true }))).toEqual(["300.c.host,S=12"]);
    expect(ids(await perform(desk, "list_messages", { folder: "work" }))).toEqual(["50.d.host"]);
  });

  test("a message is read wherever it lies, and stays unread", async () => {
    const desk = createDesk();
    const id = putMail(desk.folder, "1.a.host", mail("Hello", "The text.", { Cc: "c@example.org" }));
    expect(await perform(desk, "read_message", { id })).toMatchObject({
      subject: "Hello",
      text: "The text.",
      text_cut: false,
      cc: [{ address: "c@example.org" }],
      unread: true,
      attachments: [],
    });
    expect(readdirSync(join(desk.folder, "mail", "new"))).toEqual([id]);
  });

  test("an account without mail is an empty one", async () => {
    const desk = createDesk();
    expect(await perform({ ...desk, folder: join(desk.folder, "nothing") }, "list_messages")).toMatchObject({
      messages: [],
      total: 0,
    });
  });

  test.each([
    ["list_messages", { folder: "Nowhere" }, "`Nowhere`"],
    ["list_messages", { folder: "../../bob/mail" }, "has no mail folder"],
    ["list_messages", { after: "9.x" }, "`9.x`"],
    ["read_message", { id: "../../../../etc/passwd" }, "has no message"],
    ["search_messages", { since: "soon" }, "`since` is no date"],
    ["mark_message", { id: "1" }, "`seen`, `flagged` or `answered`"],
  ])("%s with %j is refused with a reason", async (name, input, message) => {
    const fault = await perform(createDesk(), name, input);
    expect(fault).toMatchObject({ code: "capability_invalid_input" });
    expect(fault.message).toContain(message);
  });

  test("links, pipes, folders and odd names in a maildir are no messages", async () => {
    const desk = createDesk();
    const place = join(desk.folder, "mail", "cur");
    writeFileSync(join(desk.folder, "secret"), mail("secret"));
    symlinkSync(join(desk.folder, "secret"), join(place, "1.link:2,S"));
    mkdirSync(join(place, "2.folder:2,S"));
    putMail(desk.folder, ".hidden", mail("hidden"), "S");
    putMail(desk.folder, "3.fine", mail("fine"), "S");
    symlinkSync("/", join(desk.folder, "mail", ".Root"));
    const { messages } = await perform(desk, "list_messages");
    expect(messages.map(({ subject }: { subject: string }) => subject)).toEqual(["fine"]);
    expect((await perform(desk, "list_folders")).folders).toHaveLength(1);
    expect(await perform(desk, "read_message", { id: "1.link" })).toMatchObject({
      code: "capability_invalid_input",
    });
  });
});

describe("searching", () => {
  test("finds by words in text and header, people, time and state, over all folders", async () => {
    const desk = createDesk();
    putMail(desk.folder, "3.a", mail("Invoice 7", "Please pay the RENT for März."));
    putMail(desk.folder, "2.b", mail("Lunch?", "Tomorrow.", { From: "Eve <eve@example.net>" }), "S");
    putMail(
      desk.folder,
      "1.c",
      mail("Old invoice", "x", { Date: "Thu, 1 Jan 2015 10:00:00 +0000" }),
      "S",
      "Archive",
    );
    const search = async (input: JsonObject) => ids(await perform(desk, "search_messages", input));
    expect(await search({ query: "rent märz" })).toEqual(["3.a"]);
    expect(await search({ subject: "invoice" })).toEqual(["3.a", "1.c"]);
    expect(await search({ from: "eve" })).toEqual(["2.b"]);
    expect(await search({ subject: "invoice", since: "2020-01-01" })).toEqual(["3.a"]);
    expect(await search({ before: "2020-01-01" })).toEqual(["1.c"]);
    expect(await search({ unread_only: true })).toEqual(["3.a"]);
    expect(await search({ folder: "Archive", query: "invoice" })).toEqual(["1.c"]);
    expect(await search({ query: "nothing like it" })).toEqual([]);
    expect(await perform(desk, "search_messages", { limit: 1 })).toMatchObject({
      looked_at: 1,
      complete: false,
    });
  });

  test("ends when the caller gives up", async () => {
    const desk = createDesk({ signal: AbortSignal.abort() });
    putMail(desk.folder, "1.a", mail("x"));
    expect(await perform(desk, "search_messages")).toMatchObject({ code: "capability_cancelled" });
  });
});

describe("changing", () => {
  test("archiving moves the message with its flags, and can be repeated", async () => {
    const desk = createDesk();
    const id = putMail(desk.folder, "1.a.host", mail("x"), "FS");
    const archived = { id, folder: "Archive", flagged: true, unread: false };
    expect(await perform(desk, "archive_message", { id })).toEqual({
      ...archived,
      answered: false,
      changed: true,
    });
    expect(await perform(desk, "archive_message", { id })).toMatchObject({ ...archived, changed: false });
    expect(readdirSync(join(desk.folder, "mail", ".Archive", "cur"))).toEqual(["1.a.host:2,FS"]);
    expect(readdirSync(join(desk.folder, "mail", "cur"))).toEqual([]);
  });

  test("marks become letters in the name, in order, and others are kept", async () => {
    const desk = createDesk();
    const id = putMail(desk.folder, "1.a", mail("x"), "PT");
    await perform(desk, "mark_message", { id, seen: true, flagged: true, answered: false });
    expect(readdirSync(join(desk.folder, "mail", "cur"))).toEqual(["1.a:2,FPST"]);
    expect(await perform(desk, "mark_message", { id, seen: false })).toMatchObject({
      unread: true,
      changed: true,
    });
    expect(readdirSync(join(desk.folder, "mail", "cur"))).toEqual(["1.a:2,FPT"]);
  });

  test("a message is moved only to a folder that is there", async () => {
    const desk = createDesk();
    const id = putMail(desk.folder, "1.a", mail("x"));
    putMail(desk.folder, "2.b", mail("y"), "S", "Work");
    expect(await perform(desk, "move_message", { id, folder: "../evil" })).toMatchObject({
      code: "capability_invalid_input",
    });
    expect(await perform(desk, "move_message", { id, folder: "work" })).toMatchObject({ folder: "Work" });
    expect(await perform(desk, "move_message", { id, folder: "INBOX" })).toMatchObject({ folder: "INBOX" });
    expect(readdirSync(join(desk.folder, "mail", "cur"))).toEqual(["1.a:2,"]);
  });
});

describe("sending", () => {
  const input = { to: ["bob@example.com"], subject: "Grüße", text: "Hello Bob" };

  test("puts one whole message into the outbox, private, from the account's address", async () => {
    const desk = createDesk();
    const sent = await perform(desk, "send_message", input);
    expect(sent).toMatchObject({ folder: "Outbox", to: ["bob@example.com"], subject: "Grüße", sent: true });
    const file = join(desk.folder, "mail", ".Outbox", "cur", `${sent.id}:2,S`);
    expect(readFileSync(file, "utf8")).toContain('From: "Anna" <anna@example.org>');
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(desk.folder, "mail", ".Outbox", "tmp"))).toEqual([]);
    expect(await perform(desk, "read_message", { id: sent.id })).toMatchObject({ text: "Hello Bob" });
  });

  test("with one key it is sent once, also after it went out, and the key is for this message alone", async () => {
    const desk = createDesk({ idempotencyKey: "k1" });
    const first = await perform(desk, "send_message", input);
    expect(await perform(desk, "send_message", input)).toEqual({ ...first, sent: false });
    await perform(desk, "archive_message", { id: first.id });
    expect(await perform(desk, "send_message", input)).toMatchObject({
      id: first.id,
      folder: "Archive",
      sent: false,
    });
    expect(await perform(desk, "send_message", { ...input, text: "Other" })).toMatchObject({
      code: "capability_invalid_input",
    });
    const other = await perform({ ...desk, idempotencyKey: "k2" }, "send_message", input);
    expect(other.id).not.toBe(first.id);
  });

  test("an answer names the message it answers", async () => {
    const desk = createDesk();
    const id = putMail(desk.folder, "1.a", mail("Question", "?", { "Message-ID": "<q@example.com>" }));
    const sent = await perform(desk, "send_message", { ...input, in_reply_to: id });
    const content = readFileSync(join(desk.folder, "mail", ".Outbox", "cur", `${sent.id}:2,S`), "utf8");
    expect(content).toContain("In-Reply-To: <q@example.com>\r\n");
    expect(await perform(desk, "send_message", { ...input, in_reply_to: "no" })).toMatchObject({
      code: "capability_invalid_input",
    });
  });

  test.each([
    [{ to: [] }],
    [{ to: ["Bob <bob@example.com>"] }],
    [{ to: ["bob@example.com\r\nBcc: eve@example.com"] }],
    [{ to: ["bob@example.com,eve@example.com"] }],
    [{ subject: "one\nBcc: eve@example.com" }],
    [{ from: "eve@example.com" }],
  ])("%j is no message to send", async (wrong) => {
    expect(await perform(createDesk(), "send_message", { ...input, ...wrong })).toMatchObject({
      code: "schema",
    });
  });

  test("what a killed writer left in `tmp` is removed after a day and a half, not before", async () => {
    const desk = createDesk();
    const tmp = join(desk.folder, "mail", ".Outbox", "tmp");
    mkdirSync(tmp, { recursive: true });
    for (const name of ["old", "young"]) writeFileSync(join(tmp, name), "x");
    const before = Date.now() / 1000 - 40 * 3600;
    utimesSync(join(tmp, "old"), before, before);
    await perform(desk, "send_message", input);
    expect(readdirSync(tmp)).toEqual(["young"]);
  });
});
