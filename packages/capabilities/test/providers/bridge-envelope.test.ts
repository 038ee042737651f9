import { describe, expect, test } from "vitest";
import { bridgeCommand, faultOf, openProvider, resultOf } from "../../../../test/support/bridges.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  MAX_ENVELOPE_BYTES,
  makeRequest,
  readBegunAuth,
  readBridgeDefinitions,
  readOutput,
  readPoll,
  readResponse,
  writeRequest,
} from "../../src/providers/bridge-protocol.ts";

const ID = "cap_bridge_00";

describe("a request", () => {
  test("is one line of JSON with version, id, namespace, method and parameters", () => {
    const request = makeRequest("mail", "invoke", { a: 1 });
    expect(request).toEqual({
      version: 1,
      id: request.id,
      namespace: "mail",
      method: "invoke",
      params: { a: 1 },
    });
    expect(request.id).toMatch(/^cap_bridge_[0-9a-f]{32}$/);
    expect(JSON.parse(resultOf(writeRequest(request)))).toEqual(request);
    expect(makeRequest("mail", "invoke", {}).id).not.toBe(request.id);
  });

  test("that is too large is not sent", () => {
    const huge = makeRequest("mail", "invoke", { text: "x".repeat(MAX_ENVELOPE_BYTES) });
    expect(faultOf(writeRequest(huge)).code).toBe("capability_invalid_input");
  });
});

/** Each with `$ID` in place of the id that was asked with. */
const VIOLATIONS: Readonly<Record<string, string>> = {
  "nothing at all": "",
  "no JSON": "hello",
  "a part of JSON": '{"version":1,"id":"$ID","result":{',
  "two JSON values": '{"version":1,"id":"$ID","result":{}}\n{"version":1,"id":"$ID","result":{}}',
  "a list": "[]",
  "a text": '"hello"',
  null: "null",
  "no version": '{"id":"$ID","result":{}}',
  "another version": '{"version":2,"id":"$ID","result":{}}',
  "a version as text": '{"version":"1","id":"$ID","result":{}}',
  "`true` as version": '{"version":true,"id":"$ID","result":{}}',
  "no id": '{"version":1,"result":{}}',
  "another id": '{"version":1,"id":"cap_bridge_other","result":{}}',
  "a huge id": `{"version":1,"id":"${"x".repeat(100_000)}","result":{}}`,
  "result and error": '{"version":1,"id":"$ID","result":{},"error":{"code":"a","message":"b"}}',
  "a result and an error that is null": '{"version":1,"id":"$ID","result":{},"error":null}',
  "neither result nor error": '{"version":1,"id":"$ID"}',
  "a result that is a list": '{"version":1,"id":"$ID","result":[]}',
  "a result that is null": '{"version":1,"id":"$ID","result":null}',
  "an error that is a text": '{"version":1,"id":"$ID","error":"no"}',
  "an error without a code": '{"version":1,"id":"$ID","error":{"message":"no"}}',
  "an error without a message": '{"version":1,"id":"$ID","error":{"code":"no"}}',
  "an error with an empty code": '{"version":1,"id":"$ID","error":{"code":" ","message":"no"}}',
  "an error whose code is a sentence": '{"version":1,"id":"$ID","error":{"code":"a b\\nc","message":"no"}}',
};

describe("an answer", () => {
  test.each(Object.entries(VIOLATIONS))("with %s is none", (_, text) => {
    const fault = faultOf(readResponse(text.replaceAll("$ID", ID), ID));
    expect(fault.code).toBe("capability_invalid_output");
    expect(fault.message).toMatch(/^The provider's answer violates `bridge-v1`: .+\.$/);
    expect(fault.message.length).toBeLessThan(300);
  });

  verifies(
    "case 128",
    "of a real process that breaks the protocol is `capability_invalid_output`",
    async () => {
      const kinds = [
        "another version",
        "another id",
        "result and error",
        "neither result nor error",
        "a list",
        "an error without a code",
      ];
      const faults = await Promise.all(
        kinds.map(async (kind) => {
          const { invoke } = openProvider({ command: bridgeCommand("raw", VIOLATIONS[kind] ?? "") });
          return faultOf(await invoke("echo")).code;
        }),
      );
      expect(faults).toEqual(kinds.map(() => "capability_invalid_output"));
    },
  );

  test("with a result or an error is what it says", () => {
    expect(resultOf(readResponse(`{"version":1,"id":"${ID}","result":{"a":1},"more":2}\n`, ID))).toEqual({
      a: 1,
    });
    expect(
      faultOf(readResponse(`{"version":1,"id":"${ID}","error":{"code":"x.y-z","message":"No."}}`, ID)),
    ).toEqual({
      code: "x.y-z",
      message: "No.",
    });
  });
});

describe("a result", () => {
  test.each([
    ["without definitions", () => readBridgeDefinitions({})],
    ["with definitions that are a text", () => readBridgeDefinitions({ definitions: "mail" })],
    ["with an output that is a list", () => readOutput({ output: [] })],
    ["without an address to sign in at", () => readBegunAuth({ flow_state: {} })],
    [
      "with an unknown kind of flow",
      () => readBegunAuth({ auth_url: "https://a.example", flow_type: "password" }),
    ],
    [
      "with a wait of no seconds",
      () => readBegunAuth({ auth_url: "https://a.example", poll_interval_seconds: 0 }),
    ],
    ["with an unknown status", () => readPoll({ status: "maybe" })],
    ["that is complete without an account", () => readPoll({ status: "complete" })],
  ])("%s is not taken", (_, read) => {
    expect(faultOf(read()).code).toBe("capability_invalid_output");
  });

  test("may say `null` where it has nothing to say", () => {
    const begun = { auth_url: "https://a.example", expires_at: null, flow_state: null, user_code: null };
    expect(resultOf(readBegunAuth(begun))).toEqual({
      authUrl: "https://a.example",
      flowType: "authorization_code",
      flowState: {},
    });
    const complete = {
      status: "complete",
      account_ref: "acc",
      credential_material: { ref: "v" },
      metadata: null,
    };
    expect(resultOf(readPoll(complete))).toEqual({
      status: "complete",
      account: { accountRef: "acc", credentialMaterial: { ref: "v" }, metadata: {} },
    });
    expect(resultOf(readPoll({ status: "pending" }))).toEqual({ status: "pending", retryAfterSeconds: 5 });
  });
});
