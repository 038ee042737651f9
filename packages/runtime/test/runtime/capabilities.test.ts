import { UsageError } from "@metier/base/errors";
import { answerFault, answerWith, type BrokerCallOptions, type CapabilityBroker } from "@metier/capabilities";
import { expect, test } from "vitest";
import { type Capabilities, offerCapabilities } from "../../src/runtime/capabilities.ts";

interface Asked {
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A broker that notes what it is asked, and refuses everything. */
function recordingBroker(): { readonly broker: CapabilityBroker; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const fault = answerFault("capability_not_found", "There is none.");
  const note =
    <Value>(method: string, value: Value) =>
    async (...args: readonly unknown[]): Promise<Value> => {
      asked.push({ method, args });
      return value;
    };
  const broker: CapabilityBroker = {
    list: note("list", []),
    preflight: note("preflight", undefined),
    invoke: note("invoke", fault),
    auth: {
      begin: note("begin", fault),
      list: note("flows", []),
      complete: note("complete", fault),
      completeCallback: note("completeCallback", fault),
      poll: note("poll", fault),
      unlink: note("unlink", fault),
    },
    forget: note("forget", undefined),
    providers: note("providers", []),
    close: note("close", undefined),
  };
  return { broker, asked };
}

const CALLS: Readonly<
  Record<string, (capabilities: Capabilities, caller?: { readonly userId?: string }) => Promise<unknown>>
> = {
  list: ({ list }, caller) => list(caller),
  invoke: ({ invoke }, caller) =>
    invoke({ capability: "a.b", operation: "c" }, caller === undefined ? {} : { caller }),
  "auth.begin": ({ auth }, caller) =>
    auth.begin({ capability: "a.b" }, caller === undefined ? {} : { caller }),
  "auth.list": ({ auth }, caller) => auth.list({}, caller === undefined ? {} : { caller }),
  "auth.complete": ({ auth }, caller) =>
    auth.complete({ flowId: "caf_1", code: "x" }, caller === undefined ? {} : { caller }),
  "auth.completeCallback": ({ auth }, caller) =>
    auth.completeCallback("http://127.0.0.1/?code=x", caller === undefined ? {} : { caller }),
  "auth.poll": ({ auth }, caller) => auth.poll("caf_1", caller === undefined ? {} : { caller }),
  "auth.unlink": ({ auth }, caller) =>
    auth.unlink({ capability: "a.b" }, caller === undefined ? {} : { caller }),
};

test.each(Object.keys(CALLS))("`%s` is refused, as a value, for a caller who is not known", async (name) => {
  for (const caller of [undefined, {}, { userId: "" }, { userId: "  " }]) {
    const { broker, asked } = recordingBroker();
    expect(await CALLS[name]?.(offerCapabilities(broker), caller)).toEqual({
      ok: false,
      fault: {
        code: "capability_access_denied",
        message: "A capability acts for a user, but the call names none.",
        hint: "Name the user: `caller: { userId: … }`.",
      },
    });
    expect(asked).toEqual([]);
  }
});

test.each(Object.keys(CALLS))("`%s` is asked for the user whom the caller names", async (name) => {
  const { broker, asked } = recordingBroker();
  await CALLS[name]?.(offerCapabilities(broker), { userId: "u1" });
  expect(asked).toHaveLength(1);
  expect(asked[0]?.args[0]).toEqual({ userId: "u1" });
});

test("the chat of a caller goes along under the names that capabilities have for it", async () => {
  const { broker, asked } = recordingBroker();
  const caller = { userId: "u1", chatId: "7", chatType: "group", sessionId: "s", isLocal: true };
  await offerCapabilities(broker).list(caller, { all: true });
  expect(asked[0]?.args).toEqual([
    { userId: "u1", chatId: "7", chatType: "group", sessionKey: "s" },
    { all: true },
  ]);
});

test("whom a call brings to be asked comes before whom the program brings", async () => {
  const { broker, asked } = recordingBroker();
  const general = (): "no" => "no";
  const own = (): "yes" => "yes";
  const caller = { userId: "u1" };
  const request = { capability: "a.b", operation: "c" };
  const withGeneral = offerCapabilities(broker, general);
  await withGeneral.invoke(request, { caller });
  await withGeneral.invoke(request, { caller, confirm: own });
  await offerCapabilities(broker).invoke(request, { caller });
  expect(asked.map(({ args }) => (args[2] as BrokerCallOptions).confirm)).toEqual([general, own, undefined]);
});

test("who is forgotten is one user, as calls are made for them, or everybody of a tenant, and never everybody", async () => {
  const { broker, asked } = recordingBroker();
  const { forget, list } = offerCapabilities(broker);
  await list({ userId: "ada", tenantId: "acme" });
  await forget({ userId: "ada", tenantId: "acme" });
  await forget({ tenantId: "acme" });
  await forget({ userId: "ada" });
  expect(asked.map(({ args }) => args[0])).toEqual([
    { userId: "tenant/acme/ada" },
    { userId: "tenant/acme/ada" },
    { prefix: "tenant/acme/" },
    { userId: "ada" },
  ]);
  for (const owner of [
    {},
    { tenantId: "" },
    { userId: "", tenantId: "acme" },
    { userId: undefined },
    undefined,
  ]) {
    await expect(forget(owner as Parameters<typeof forget>[0])).rejects.toThrow(UsageError);
  }
  await expect(forget({ user: "ada" } as never)).rejects.toThrow("`user`");
  expect(asked).toHaveLength(4);
});

test("answers come back as they are", async () => {
  const { broker } = recordingBroker();
  expect(await offerCapabilities(broker).list({ userId: "u1" })).toEqual(answerWith([]));
  expect(await offerCapabilities(broker).auth.poll("caf_1", { caller: { userId: "u1" } })).toEqual(
    answerFault("capability_not_found", "There is none."),
  );
});
