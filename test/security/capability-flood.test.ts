/**
 * The socket of the capabilities under attack from inside a sandbox: garbage, floods, claimed lengths, half frames, slow
 * writers and silent readers. Each ends its own connection at most; others are served all the while.
 */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "@metier/base/json";
import { MAX_FRAME_BYTES } from "@metier/sandbox";
import { describe, expect, test } from "vitest";
import {
  ask,
  type OpenedSocket,
  openClient,
  openTestSocket,
  requestText,
  until,
} from "../support/capability-socket.ts";
import { verifies } from "../support/verifies.ts";

const ECHO = { capability: "desk.mail", operation: "echo", input: { a: 1 } };

async function expectServed(opened: OpenedSocket): Promise<void> {
  expect((await ask(opened, "capability.invoke", ECHO))?.result).toMatchObject({ output: { a: 1 } });
}

function claim(length: number): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(length);
  return prefix;
}

describe("a flood of garbage", () => {
  verifies(
    172,
    "frames that hold no request end the connection after some, and others are served",
    async () => {
      const opened = await openTestSocket();
      const garbage = Buffer.concat(
        Array.from({ length: 5000 }, (_, index) => {
          const body = randomBytes(index % 97);
          return Buffer.concat([claim(body.length), body]);
        }),
      );
      const clients = Array.from({ length: 20 }, () => openClient(opened.socketPath));
      for (const { write } of clients) write(garbage);
      await expectServed(opened);
      for (const { next, closed } of clients) {
        expect((await next())?.error?.code).toBeLessThan(-32000);
        await closed;
      }
      await expectServed(opened);
      expect(opened.broker.asked).toHaveLength(2);
    },
  );

  verifies(
    172,
    "a length beyond the limit is said and ends the connection, with nothing held for it",
    async () => {
      const opened = await openTestSocket();
      for (const length of [MAX_FRAME_BYTES + 1, 0x7fffffff, 0xffffffff]) {
        const client = openClient(opened.socketPath);
        client.write(Buffer.concat([claim(length), randomBytes(100_000)]));
        const reply = await client.next();
        expect(reply?.error).toEqual({
          code: -32600,
          message: `The frame has ${length} bytes; the limit is ${MAX_FRAME_BYTES} bytes.`,
        });
        await client.closed;
      }
      await expectServed(opened);
    },
  );

  test("a request of HTTP is a length beyond the limit", async () => {
    const opened = await openTestSocket({ allowTcp: true });
    const { host = "", port = 0 } = opened.tcp ?? {};
    const client = openClient({ host, port });
    client.write(Buffer.from("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
    expect((await client.next())?.error?.code).toBe(-32600);
    await client.closed;
  });

  test("requests with bad tokens end the connection after some, and never reach the broker", async () => {
    const opened = await openTestSocket({ limits: { strangers: 5 } });
    const client = openClient(opened.socketPath);
    for (let count = 0; count < 8; count += 1) {
      client.send(requestText("capability.invoke", { ...ECHO, context_token: "a.b.c", nonce: `${count}` }));
    }
    expect((await client.next())?.error?.message).toContain("Invalid context token (decode)");
    await client.closed;
    expect(opened.broker.asked).toEqual([]);
  });

  test("JSON that is nested without end harms nobody", async () => {
    const opened = await openTestSocket();
    const client = openClient(opened.socketPath);
    client.send("[".repeat(1_000_000));
    expect((await client.next())?.error?.code).toBe(-32700);
    const context_token = await opened.mint();
    const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const text = requestText("capability.invoke", { ...ECHO, input: 0, context_token, nonce: "n" });
    client.send(text.replace('"input":0', `"input":${deep}`));
    expect(await client.next()).toBeDefined();
    await expectServed(opened);
  });
});

describe("clients that hold on", () => {
  test("a frame that does not become whole in time ends the connection, however busily it drips", async () => {
    const opened = await openTestSocket({ limits: { frameMs: 200 } });
    const client = openClient(opened.socketPath);
    client.write(claim(1000));
    const drip = setInterval(() => client.write(Buffer.from("x")), 20);
    await client.closed;
    clearInterval(drip);
    await expectServed(opened);
  });

  test("a connection that says nothing is closed, and one whose call is under way is not", async () => {
    const opened = await openTestSocket({ limits: { idleMs: 100 } });
    const busy = openClient(opened.socketPath);
    const hang = { ...ECHO, operation: "hang", context_token: await opened.mint(), nonce: "n" };
    busy.send(requestText("capability.invoke", hang));
    await until(() => opened.broker.asked.length === 1);
    const silent = openClient(opened.socketPath);
    await silent.closed;
    expect(busy.socket.readyState).toBe("open");
    expect(opened.broker.asked).toHaveLength(1);
  });

  test("more connections than there may be are closed at once, and there is room when one ends", async () => {
    const opened = await openTestSocket({ limits: { connections: 3 } });
    const held = Array.from({ length: 3 }, () => openClient(opened.socketPath));
    await Promise.all(held.map(({ socket }) => new Promise((resolve) => socket.once("connect", resolve))));
    await openClient(opened.socketPath).closed;
    held[0]?.socket.destroy();
    await expect.poll(() => ask(opened, "capability.list")).toBeDefined();
  });

  test("more requests at once than there may be are refused by name", async () => {
    const opened = await openTestSocket({ limits: { calls: 2 } });
    const client = openClient(opened.socketPath);
    const context_token = await opened.mint();
    for (const nonce of ["a", "b", "c"]) {
      const params = { ...ECHO, operation: "hang", context_token, nonce };
      client.send(requestText("capability.invoke", params, { id: nonce }));
    }
    expect(await client.next()).toMatchObject({
      id: "c",
      error: { code: -32603, data: { code: "capability_rate_limited" } },
    });
  });

  test("half frames of many connections together hold no more than there is room for", async () => {
    const opened = await openTestSocket({ limits: { heldBytes: 3 * MAX_FRAME_BYTES } });
    const half = Buffer.concat([claim(MAX_FRAME_BYTES), Buffer.alloc(MAX_FRAME_BYTES - 1)]);
    const clients = Array.from({ length: 4 }, () => openClient(opened.socketPath));
    for (const { write } of clients) write(half);
    const first = await Promise.race(clients.map(({ next }) => next()));
    expect(first?.error?.message).toContain("capability_rate_limited");
    await expectServed(opened);
  });

  test("who asks for much and reads nothing is let go", async () => {
    const opened = await openTestSocket({ limits: { connections: 1, idleMs: 100 } });
    const client = openClient(opened.socketPath);
    client.socket.pause();
    const context_token = await opened.mint();
    const input = { length: 5_000_000 };
    for (let count = 0; count < 8; count += 1) {
      const params = { ...ECHO, operation: "grow", input, context_token, nonce: `${count}` };
      client.send(requestText("capability.invoke", params));
    }
    await until(() => opened.broker.asked.length > 0);
    await expect.poll(() => ask(opened, "capability.list")).toBeDefined();
  });

  test("who reads nothing is let go, also when the last call takes longer than a connection may be idle", async () => {
    const opened = await openTestSocket({ limits: { connections: 1, idleMs: 100 } });
    const client = openClient(opened.socketPath);
    client.socket.pause();
    const context_token = await opened.mint();
    const grow = (nonce: string, input: JsonObject): void => {
      const params = { ...ECHO, operation: "grow", input, context_token, nonce };
      client.send(requestText("capability.invoke", params));
    };
    grow("last", { length: 1, afterMs: 1_500 });
    await until(() => opened.broker.asked.length > 0);
    grow("first", { length: 5_000_000 });
    await expect.poll(() => ask(opened, "capability.list")).toBeDefined();
  });
});
