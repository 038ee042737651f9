/** Requests through the socket of a run: methods, params, identities and faults. */
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import {
  ANNA,
  ask,
  openClient,
  openTestSocket,
  type RpcReply,
  requestText,
  until,
} from "../../../../test/support/capability-socket.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const INVOKE = "capability.invoke";
const ECHO = { capability: "desk.mail", operation: "echo", input: { text: "Grüße" } };

function errorOf(reply: RpcReply | undefined): readonly [number, string] {
  return [reply?.error?.code ?? 0, reply?.error?.message ?? ""];
}

describe("methods", () => {
  verifies([175, 177], "list says what the caller may use", async () => {
    const opened = await openTestSocket();
    const reply = await ask(opened, "capability.list", { include_unavailable: true });
    expect(opened.broker.asked).toEqual([["list", ANNA, { all: true }]]);
    expect(reply?.result).toEqual({
      capabilities: [
        {
          id: "desk.mail",
          description: "Mail.",
          sensitive: true,
          allowed_chat_types: ["private"],
          available: true,
          requires_auth: true,
          authenticated: true,
          linked_accounts: [
            { account_ref: "work", account_email: "anna@example.com", created_at: "2030-01-01T00:00:00Z" },
          ],
          operations: [
            {
              name: "read",
              description: "Reads.",
              requires_auth: true,
              mutating: false,
              idempotent: false,
              input_schema: { type: "object" },
            },
          ],
        },
      ],
    });
  });

  verifies(177, "invoke passes everything on", async () => {
    const opened = await openTestSocket({ confirm: () => "no" });
    const reply = await ask(opened, INVOKE, {
      ...ECHO,
      account_ref: "work",
      idempotency_key: "k",
      mutation_plan_id: "plan_1",
    });
    const request = { ...ECHO, account: "work", idempotencyKey: "k", planId: "plan_1" };
    expect(opened.broker.asked).toEqual([["invoke", ANNA, request, true]]);
    expect(reply?.result).toEqual({
      ok: true,
      request_id: "cap_1",
      capability: "desk.mail",
      operation: "echo",
      repeated: false,
      output: { text: "Grüße" },
    });
  });

  verifies(177, "sign-ins are begun, listed, completed and polled", async () => {
    const opened = await openTestSocket();
    const flow = {
      flow_id: "caf_1",
      capability: "desk.mail",
      account_hint: "work",
      auth_url: "https://id.example/device",
      flow_type: "device_code",
      expires_at: "2030-01-01T00:00:00Z",
      user_code: "ABCD",
      poll_interval_seconds: 5,
    };
    const completed = {
      ok: true,
      flow_id: "caf_1",
      capability: "desk.mail",
      account_ref: "work",
      account_email: "anna@example.com",
    };
    const result = async (name: string, params: object): Promise<unknown> =>
      (await ask(opened, `capability.auth.${name}`, { ...params }))?.result;
    expect(await result("begin", { capability: "desk.mail", account_hint: "work" })).toEqual(flow);
    expect(await result("list", { capability: "desk.mail" })).toEqual({ flows: [flow] });
    expect(await result("complete", { flow_id: "caf_1", code: "4/x" })).toEqual(completed);
    expect(await result("complete_callback", { callback_url: "http://127.0.0.1/?code=4" })).toEqual(
      completed,
    );
    expect(await result("poll", { flow_id: "caf_1" })).toEqual({ status: "complete", ...completed });
    expect(opened.broker.asked).toEqual([
      ["begin", ANNA, { capability: "desk.mail", account: "work" }],
      ["auth list", ANNA, { capability: "desk.mail" }],
      ["complete", ANNA, { flowId: "caf_1", code: "4/x" }],
      ["complete callback", ANNA, "http://127.0.0.1/?code=4"],
      ["poll", ANNA, "caf_1"],
    ]);
  });

  test("params that do not fit are named, and the broker is not asked", async () => {
    const opened = await openTestSocket();
    const wrong = [
      [{ operation: "echo" }, "`capability` is missing; it must be a string."],
      [{ ...ECHO, capability: "  " }, "`capability` is missing; it must be a string."],
      [{ ...ECHO, operation: 7 }, "`operation` must be a string."],
      [{ ...ECHO, input: [] }, "`input` must be a JSON object if present."],
      [{ ...ECHO, account_ref: {} }, "`account_ref` must be a string if present."],
    ] as const;
    for (const [params, message] of wrong) {
      expect(errorOf(await ask(opened, INVOKE, params))).toEqual([-32602, message]);
    }
    const flag = await ask(opened, "capability.list", { include_unavailable: "yes" });
    expect(errorOf(flag)).toEqual([-32602, "`include_unavailable` must be `true` or `false` if present."]);
    expect(opened.broker.asked).toEqual([]);
  });
});

describe("who asks", () => {
  verifies([172, "case 115"], "no request without a token is answered", async () => {
    const opened = await openTestSocket();
    for (const context_token of [undefined, null, "", 7]) {
      const reply = await ask(opened, "capability.list", { context_token });
      expect(errorOf(reply)).toEqual([
        -32602,
        "Invalid context token (missing): The request has no token or no nonce.",
      ]);
    }
    expect(opened.broker.asked).toEqual([]);
  });

  verifies([172, "case 115"], "what a request says about itself counts for nothing", async () => {
    const opened = await openTestSocket();
    const claimed = {
      user_id: "bert",
      userId: "bert",
      sub: "bert",
      chat_id: "1",
      chat_type: "group",
      provider: "x",
      run_id: "run-2",
      skill: "bank",
      declared: ["bank.transfer"],
      caller: { userId: "bert" },
    };
    await ask(opened, INVOKE, { ...ECHO, ...claimed });
    expect(opened.broker.asked).toEqual([["invoke", ANNA, ECHO, false]]);
  });

  verifies("case 115", "what the token does not say is not there, though the request says it", async () => {
    const opened = await openTestSocket();
    const { token } = await opened.tokens.mint({ userId: "anna", runId: "run-1" }, 60_000);
    await ask(opened, "capability.list", { context_token: token, chat_type: "private", thread_id: "t" });
    expect(opened.broker.asked[0]?.[1]).toEqual({ userId: "anna", runId: "run-1", declared: [] });
  });

  verifies(
    172,
    "forged, ended, replayed and foreign tokens are refused by the check that they fail",
    async () => {
      const opened = await openTestSocket();
      const other = await openTestSocket();
      const own = await opened.mint();
      const ended = await opened.tokens.mint(ANNA, -31_000);
      const refused: readonly (readonly [string, string])[] = [
        [await other.mint(), "signature"],
        [`${own.slice(0, -6)}AAAAAA`, "signature"],
        [await opened.mint({ runId: "run-2" }), "claims"],
        [ended.token, "claims"],
        ["a.b.c", "decode"],
        ["a.b", "format"],
      ];
      for (const [context_token, code] of refused) {
        const [number, message] = errorOf(await ask(opened, "capability.list", { context_token }));
        expect([number, message.split(":")[0]]).toEqual([-32602, `Invalid context token (${code})`]);
      }
      const twice = { context_token: own, nonce: "the same" };
      expect((await ask(opened, "capability.list", twice))?.result).toBeDefined();
      expect(errorOf(await ask(opened, "capability.list", twice))[1]).toContain("(replayed)");
      expect(opened.broker.asked).toHaveLength(1);
    },
  );

  test("a method that there is not is said before the token is looked at", async () => {
    const opened = await openTestSocket();
    for (const method of ["capability.steal", "constructor", "__proto__", ""]) {
      expect(errorOf(await ask(opened, method, { context_token: undefined }))[0]).toBe(-32601);
    }
  });
});

describe("faults", () => {
  verifies(177, "what the broker refuses has its code, hint and time", async () => {
    const opened = await openTestSocket();
    const reply = await ask(opened, INVOKE, { ...ECHO, operation: "other" });
    expect(reply?.error).toEqual({
      code: -32603,
      message: "capability_rate_limited: Too many.",
      data: { code: "capability_rate_limited", hint: "Wait.", retry_after_seconds: 7 },
    });
  });

  test("what the broker throws is told to the host, and to nobody else", async () => {
    const faults: unknown[] = [];
    const opened = await openTestSocket({ onFault: (fault) => faults.push(fault) });
    const reply = await ask(opened, INVOKE, { ...ECHO, operation: "throw" });
    expect(errorOf(reply)).toEqual([
      -32603,
      "capability_backend_unavailable: The host failed to handle the request.",
    ]);
    expect(faults).toEqual([new Error("secret detail of the host")]);
  });

  verifies(172, "nothing is performed while it is held back, and it is asked for every request", async () => {
    let held: string | undefined = "Untrusted text is in the conversation.";
    const opened = await openTestSocket({ whyHeld: () => held });
    expect(errorOf(await ask(opened, INVOKE, ECHO))).toEqual([
      -32603,
      "capability_access_denied: Untrusted text is in the conversation.",
    ]);
    expect(opened.broker.asked).toEqual([]);
    held = undefined;
    expect((await ask(opened, INVOKE, ECHO))?.result).toBeDefined();
  });

  test("what is no request is answered by the code for it", async () => {
    const opened = await openTestSocket();
    const wrong: readonly (readonly [string, number, unknown])[] = [
      ["", -32700, null],
      ["{", -32700, null],
      ["7", -32600, null],
      ["null", -32600, null],
      ["[]", -32600, null],
      [`[${requestText("capability.list", {})}]`, -32600, null],
      ['{"jsonrpc":"2.0","method":"capability.list"}', -32600, null],
      [requestText("capability.list", {}, { id: null }), -32600, null],
      [requestText("capability.list", {}, { id: "x".repeat(129) }), -32600, null],
      [requestText("capability.list", {}, { id: "a", jsonrpc: "1.0" }), -32600, "a"],
      [requestText(7, {}, { id: "b" }), -32600, "b"],
      [requestText("capability.list", [], { id: "c" }), -32602, "c"],
      [requestText("capability.list", undefined, { id: "d" }), -32602, "d"],
    ];
    const client = openClient(opened.socketPath);
    for (const [text, code, id] of wrong) {
      client.send(text);
      const reply = await client.next();
      expect([text, reply?.error?.code, reply?.id]).toEqual([text, code, id]);
    }
    client.write(Buffer.from([0, 0, 0, 2, 0xff, 0xfe]));
    expect((await client.next())?.error?.code).toBe(-32700);
  });

  test("an answer that fits into no frame is a fault, and one that just fits is none", async () => {
    const opened = await openTestSocket();
    const grow = (length: number): Promise<RpcReply | undefined> =>
      ask(opened, INVOKE, { ...ECHO, operation: "grow", input: { length } });
    expect(errorOf(await grow(10 * 1024 * 1024))[1]).toContain("capability_invalid_output");
    expect((await grow(10 * 1024 * 1024 - 500))?.result).toBeDefined();
  });
});

describe("the door", () => {
  test("only its user can open it, and it is gone when it is closed", async () => {
    const opened = await openTestSocket();
    expect(statSync(opened.socketPath).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(opened.socketPath)).mode & 0o777).toBe(0o700);
    await opened.close();
    expect(existsSync(dirname(opened.socketPath))).toBe(false);
    const client = openClient(opened.socketPath);
    expect(await client.next()).toBeUndefined();
  });

  test("a call is cancelled when its connection closes, and when the door does", async () => {
    const opened = await openTestSocket();
    const hang = requestText(INVOKE, {
      ...ECHO,
      operation: "hang",
      context_token: await opened.mint(),
      nonce: "a",
    });
    const client = openClient(opened.socketPath);
    client.send(hang);
    await until(() => opened.broker.asked.length === 1);
    client.socket.destroy();
    await until(() => opened.broker.asked.length === 2);
    const other = openClient(opened.socketPath);
    other.send(hang.replace('"nonce":"a"', '"nonce":"b"'));
    await until(() => opened.broker.asked.length === 3);
    await opened.close();
    await until(() => opened.broker.asked.length === 4);
    expect(opened.broker.asked[3]).toEqual(["cancelled"]);
  });

  test("requests of one connection are performed at the same time", async () => {
    const opened = await openTestSocket();
    const client = openClient(opened.socketPath);
    const context_token = await opened.mint();
    for (const [operation, id] of [
      ["hang", "slow"],
      ["echo", "fast"],
    ]) {
      client.send(requestText(INVOKE, { ...ECHO, operation, context_token, nonce: id }, { id }));
    }
    expect((await client.next())?.id).toBe("fast");
  });

  verifies([172, "case 116"], "loopback asks for a bearer besides the token", async () => {
    const opened = await openTestSocket({ allowTcp: true });
    const { host = "", port = 0, bearer = "" } = opened.tcp ?? {};
    expect(host).toBe("127.0.0.1");
    const client = openClient({ host, port });
    const context_token = await opened.mint();
    for (const [given, code] of [
      [undefined, -32602],
      ["wrong", -32602],
      [bearer, undefined],
    ] as const) {
      client.send(requestText("capability.list", { context_token, nonce: `n${given}`, bearer: given }));
      expect((await client.next())?.error?.code).toBe(code);
    }
    client.send(requestText("capability.list", { bearer, nonce: "x" }));
    expect(errorOf(await client.next())[1]).toContain("Invalid context token (missing)");
  });

  test("it does not listen on loopback unless it is told to", async () => {
    expect((await openTestSocket()).tcp).toBeUndefined();
  });
});
