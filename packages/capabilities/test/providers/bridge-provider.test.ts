import { createCommandFinder } from "@metier/base/programs";
import { createRedactor } from "@metier/sandbox/secrets";
import { describe, expect, test } from "vitest";
import {
  bridgeCommand,
  faultOf,
  openProvider,
  resultOf,
  supportProgram,
} from "../../../../test/support/bridges.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { answerWith } from "../../src/capability.ts";
import type { BridgeRequest } from "../../src/providers/bridge-protocol.ts";
import { createBridgeProvider } from "../../src/providers/bridge-provider.ts";
import { readCapabilityDefinitions } from "../../src/read-definitions.ts";

interface Seen {
  readonly [key: string]: unknown;
}

const IDENTITY = /alice|"user|chat|session|thread|Alice at home/;

/** What the bridge was sent, without the token, whose claims say who asks. */
function withoutToken(seen: Seen): Seen {
  const { context_token, ...others } = seen;
  expect(context_token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  return others;
}

describe("a bridge with one process for each call", () => {
  verifies("case 125", "gives its definitions as a list or as a map", async () => {
    const source = { namespace: "mail", canSignIn: true };
    const [list, map] = await Promise.all(
      ["list", "map"].map(async (form) => {
        const { provider } = openProvider({ command: bridgeCommand("serve", form) });
        const raw = resultOf(await provider.definitions());
        expect(Array.isArray(raw)).toBe(form === "list");
        return resultOf(await readCapabilityDefinitions(raw, source));
      }),
    );
    expect(list).toEqual(map);
    expect(list).toMatchObject([{ id: "mail.inbox", operations: [{ name: "echo" }, { name: "send" }] }]);
  });

  verifies(
    "case 126",
    "is sent the token and exactly the parameters of the protocol, no identity",
    async () => {
      const { provider, context, invoke } = openProvider({ command: bridgeCommand() });
      const account = {
        accountRef: "acc_1",
        accountEmail: "alice@example.com",
        createdAt: "2026-01-01T00:00:00Z",
        credentialMaterial: { ref: "vault_1" },
        metadata: {},
      };
      const invoked = resultOf(await invoke("echo", { q: 1 }, { account, idempotencyKey: "k1" }))
        .params as Seen;
      const plain = resultOf(await invoke("echo")).params as Seen;
      const begun = resultOf(
        (await provider.authBegin?.({ capabilityId: "mail.inbox", accountHint: "work" }, context())) ??
          none(),
      );
      const completed = resultOf(
        (await provider.authComplete?.(
          { capabilityId: "mail.inbox", flowState: { step: 1 }, authorizationCode: "c0de", state: "st" },
          context(),
        )) ?? none(),
      );
      const polled = resultOf(
        (await provider.authPoll?.({ capabilityId: "mail.inbox", flowState: { step: 2 } }, context())) ??
          none(),
      );
      expect(withoutToken(invoked)).toEqual({
        capability_id: "mail.inbox",
        operation: "echo",
        input_data: { q: 1 },
        account_ref: "acc_1",
        idempotency_key: "k1",
      });
      expect(withoutToken(plain)).toMatchObject({ account_ref: null, idempotency_key: null });
      expect(begun).toEqual({
        authUrl: "https://mail.example/auth",
        flowType: "device_code",
        flowState: {},
        userCode: "AB-12",
      });
      expect(completed).toMatchObject({ accountRef: "acc_1", credentialMaterial: {} });
      expect(withoutToken(completed.metadata.seen as Seen)).toEqual({
        capability_id: "mail.inbox",
        flow_state: { step: 1 },
        authorization_code: "c0de",
        raw_callback_url: null,
        state: "st",
      });
      expect(polled).toMatchObject({ status: "pending", retryAfterSeconds: 3 });
      for (const seen of [invoked, plain, completed.metadata.seen as Seen])
        expect(JSON.stringify(withoutToken(seen))).not.toMatch(IDENTITY);
    },
  );

  test("is told that an account is no longer linked only where it says that it forgets", async () => {
    for (const forgets of [true, false, "yes"]) {
      const asked: BridgeRequest[] = [];
      const ask = async (request: BridgeRequest) => {
        asked.push(request);
        return answerWith({ definitions: [], forgets });
      };
      const provider = createBridgeProvider("mail", { ask, close: async () => undefined }, createRedactor());
      const { context } = openProvider({ command: bridgeCommand() });
      const account = { accountRef: "acc_1", createdAt: "", credentialMaterial: { ref: "v1" }, metadata: {} };
      await provider.definitions();
      await provider.forget?.(account, context());
      const [, told] = asked;
      expect(told?.method).toBe(forgets === true ? "auth_forget" : undefined);
      if (told)
        expect(withoutToken(told.params)).toEqual({
          account_ref: "acc_1",
          credential_material: { ref: "v1" },
        });
    }
  });

  test("answers with `output`, or with the result itself", async () => {
    const { invoke } = openProvider({ command: bridgeCommand() });
    expect(resultOf(await invoke("bare"))).toEqual({ messages: 2 });
  });

  verifies("case 127", "has its own error codes passed on", async () => {
    const { invoke } = openProvider({ command: bridgeCommand() });
    expect(faultOf(await invoke("fail"))).toMatchObject({
      code: "mail_quota_exceeded",
      message: "Too much mail. ",
    });
  });

  verifies(
    "case 130",
    "gets the few variables it needs, what is configured and its secret, and nothing else",
    async () => {
      const { invoke, wired } = openProvider(
        {
          command: bridgeCommand(),
          env: {
            MAIL_BOX: { value: "inbox", secret: false },
            MAIL_KEY: { value: "sesame-open-now", secret: true },
            MAIL_PRINTED: { command: ["echo", "printed"], secret: false },
          },
        },
        {
          environment: {
            PATH: process.env.PATH,
            LANG: "C.UTF-8",
            LC_ALL: "C",
            USER: "somebody",
            TMPDIR: "/tmp",
            PYTHONPATH: "/lib/python",
            GOGCLI_ACCOUNT: "work",
            OPENAI_API_KEY: "sk-not-for-you",
            ANTHROPIC_API_KEY: "sk-not-for-you-either",
            METIER_HOME: "/elsewhere",
            NODE_OPTIONS: "--no-deprecation",
            ASH_CONTEXT_TOKEN_SECRET: "somebody else's",
          },
          places: { home: "/" },
        },
      );
      const environment = resultOf(await invoke("environment"));
      const { METIER_CONTEXT_TOKEN_SECRET, ASH_CONTEXT_TOKEN_SECRET, MAIL_KEY, ...others } = environment;
      expect(others).toEqual({
        HOME: "/",
        PATH: process.env.PATH,
        LANG: "C.UTF-8",
        LC_ALL: "C",
        USER: "somebody",
        TMPDIR: "/tmp",
        PYTHONPATH: "/lib/python",
        GOGCLI_ACCOUNT: "work",
        MAIL_BOX: "inbox",
        MAIL_PRINTED: "printed",
      });
      expect(wired.tokens?.exportSecret()).toMatch(/^[\w-]{43}$/);
      expect(METIER_CONTEXT_TOKEN_SECRET).toBe("[redacted:METIER_CONTEXT_TOKEN_SECRET]");
      expect(ASH_CONTEXT_TOKEN_SECRET).toBe(METIER_CONTEXT_TOKEN_SECRET);
      expect(MAIL_KEY).toBe("[redacted:MAIL_KEY]");
    },
  );

  const bridges = [
    ["in TypeScript", "./bridge-program.ts"],
    ["in Python", "./bridge.py"],
  ] as const;
  for (const [language, file] of bridges) {
    const isHere = file.endsWith(".ts") || createCommandFinder(process.env)("python3") !== undefined;
    const proves = isHere ? verifies : skipped;
    proves("case 129", `${language} believes no token but its own`, async () => {
      const { provider, context } = openProvider({ command: supportProgram(file) });
      const other = openProvider({ command: ["true"] });
      const ask = (token: string) =>
        provider.invoke(
          { capabilityId: "mail.inbox", operation: "whoami", input: {} },
          { ...context(), token: async () => token },
        );
      const own = await context().token();
      const foreign = await other.context().token();
      expect(resultOf(await ask(own))).toEqual({ user: "alice", chat: "42" });
      for (const token of [foreign, `${own}x`])
        expect(faultOf(await ask(token))).toMatchObject({
          code: "capability_invalid_input",
          message: expect.stringMatching(/^context token: /),
        });
    });
  }

  test("does not have its secrets repeated in a message, nor the token of the call", async () => {
    const secret = { value: "sesame-open-now", secret: true };
    const { invoke } = openProvider({ command: bridgeCommand(), env: { MAIL_KEY: secret } });
    const { message } = faultOf(await invoke("fail", { say: "The key is sesame-open-now.\u202e" }));
    expect(message).toBe("Too much mail. The key is [redacted:MAIL_KEY].");
  });
});

function skipped(_: string, title: string): void {
  test.skip(`${title}: there is no python3 here`, () => undefined);
}

function none(): never {
  throw new Error("The provider cannot sign anybody in.");
}
