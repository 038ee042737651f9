/** Changes that whoever asks for them keeps in a journal of its own: asked first, told before and after. */
import { expect, test } from "vitest";
import { ALICE, openPostOffice, type PostOptions } from "../../../test/support/capability-broker.ts";
import { answerFault, answerWith } from "../src/capability.ts";
import type { AskedChange, Confirmed, KeepChange, KeptChange } from "../src/capability-broker.ts";

const SEND = { capability: "post.mail", operation: "send", input: { to: "bob" } };
const FILE = { capability: "post.mail", operation: "file", input: { letter: "m1" } };

async function open(options: PostOptions = {}) {
  const office = openPostOffice({ perform: () => answerWith({ id: "m1" }), ...options });
  await office.link(ALICE, "a1");
  return office;
}

/** Notes what it is told; `how`: what it does otherwise. */
function createKeeper(how: Partial<KeptChange> = {}) {
  const said: string[] = [];
  const asked: AskedChange[] = [];
  const keep: KeepChange = async (change) => {
    asked.push(change);
    return {
      idempotencyKey: "key-1",
      confirm: async (): Promise<Confirmed> => "yes",
      begin: async () => void said.push("begin"),
      end: async (answer) => void said.push(`end ${JSON.stringify(answer)}`),
      ...how,
    };
  };
  return { keep, said, asked };
}

test("what is known of a change is the answer; nobody is asked, and nothing is done", async () => {
  const { broker, calls } = await open();
  const keep: KeepChange = async () => answerWith({ id: "m0" });
  const confirm = () => expect.unreachable("Nobody is asked.");
  expect(await broker.invoke(ALICE, SEND, { keep, confirm })).toMatchObject({
    ok: true,
    value: { output: { id: "m0" }, isRepeat: true },
  });
  expect(calls).toEqual([]);
});

test("a change is made under the key of its journal, which hears of it before and after", async () => {
  const { broker, calls } = await open();
  const { keep, said, asked } = createKeeper();
  expect(await broker.invoke(ALICE, SEND, { keep })).toMatchObject({ ok: true });
  expect(asked).toMatchObject([{ capability: "post.mail", account: "a1", input: { to: "bob" } }]);
  expect(calls.map(({ request }) => request.idempotencyKey)).toEqual(["key-1"]);
  expect(said).toEqual(["begin", 'end {"ok":true,"value":{"id":"m1"}}']);
});

test("one that cannot be recorded is not made, and its key stays free", async () => {
  const { broker, calls } = await open();
  const { keep } = createKeeper({ begin: () => Promise.reject(new Error("The lease is lost.")) });
  expect(await broker.invoke(ALICE, SEND, { keep })).toMatchObject({
    ok: false,
    fault: { code: "capability_backend_unavailable" },
  });
  expect(calls).toEqual([]);
  expect(await broker.invoke(ALICE, SEND, { keep: createKeeper().keep })).toMatchObject({ ok: true });
});

test("of what nobody knows, and of what may be tried again, no end is told", async () => {
  const { broker } = await open({
    perform: ({ operation }) =>
      operation === "send"
        ? answerFault("capability_backend_unavailable", "It is gone.")
        : answerFault("capability_rate_limited", "Later."),
  });
  const { keep, said } = createKeeper();
  await broker.invoke(ALICE, SEND, { keep });
  await broker.invoke(ALICE, FILE, { keep });
  expect(said).toEqual(["begin", "begin"]);
});

test("the journal decides who is asked: whoever is there, or nobody yet", async () => {
  const { broker, calls } = await open();
  const confirm = () => "no" as const;
  const asking = createKeeper({ confirm: async (_, ask) => ask?.() });
  expect(await broker.invoke(ALICE, SEND, { keep: asking.keep, confirm })).toMatchObject({
    ok: false,
    fault: { code: "capability_mutation_not_confirmed", message: expect.stringContaining("declined") },
  });
  const fault = { code: "capability_confirmation_pending", message: "It waits." };
  const waiting = createKeeper({ confirm: async () => fault });
  expect(await broker.invoke(ALICE, SEND, { keep: waiting.keep, confirm })).toEqual({ ok: false, fault });
  expect(calls).toEqual([]);
});

test("what only reads is not kept", async () => {
  const { broker } = await open({ perform: () => answerWith({ letters: [] }) });
  const { keep, asked } = createKeeper();
  expect(await broker.invoke(ALICE, { capability: "post.mail", operation: "read" }, { keep })).toMatchObject({
    ok: true,
  });
  expect(asked).toEqual([]);
});
