/** What providers say about themselves, and what of it is refused. */
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { readCapabilityDefinitions } from "../src/read-definitions.ts";

const SOURCE = { namespace: "gog", canSignIn: true };
const OPERATION = { name: "read", description: "Reads." };
const EMAIL = { id: "gog.email", description: "Mail.", operations: [OPERATION] };

async function faultOf(raw: unknown, source = SOURCE): Promise<string> {
  const answer = await readCapabilityDefinitions(raw, source);
  if (answer.ok) throw new Error("It was accepted.");
  expect(answer.fault.code).toBe("capability_invalid_input");
  return answer.fault.message;
}

verifies("case 125", "capabilities and operations come as a list or as a map", async () => {
  const list = await readCapabilityDefinitions([EMAIL], SOURCE);
  const { id: _, ...unnamed } = EMAIL;
  expect(list).toEqual({
    ok: true,
    value: [
      {
        id: "gog.email",
        description: "Mail.",
        sensitive: false,
        operations: [{ ...OPERATION, requiresAuth: true, mutating: false, idempotent: false }],
      },
    ],
  });
  expect(await readCapabilityDefinitions({ definitions: [EMAIL] }, SOURCE)).toEqual(list);
  expect(await readCapabilityDefinitions({ "gog.email": unnamed }, SOURCE)).toEqual(list);
  expect(await readCapabilityDefinitions([{ ...EMAIL, operations: { read: OPERATION } }], SOURCE)).toEqual(
    list,
  );
  const withoutName = { read: { description: "Reads." } };
  expect(await readCapabilityDefinitions([{ ...EMAIL, operations: withoutName }], SOURCE)).toEqual(list);
});

verifies([50, "case 117"], "an id has a namespace, and it is that of its provider", async () => {
  expect(await faultOf([{ ...EMAIL, id: "email" }])).toContain("`email` is not valid");
  expect(await faultOf([{ ...EMAIL, id: "Gog.Email" }])).toContain("lowercase");
  expect(await faultOf([{ ...EMAIL, id: "other.email" }])).toContain("does not start with `gog.`");
  expect(await faultOf([{ ...EMAIL, id: "gogx.email" }])).toContain("does not start with `gog.`");
});

verifies("case 117", "one wrong definition of a provider refuses all of them", async () => {
  const calendar = { ...EMAIL, id: "gog.calendar" };
  expect(await faultOf([calendar, { ...EMAIL, description: " " }])).toContain(
    "`gog.email` has no description",
  );
  expect(await faultOf([calendar, { ...EMAIL, operations: [] }])).toContain("has no operations");
  expect(await faultOf([EMAIL, calendar, EMAIL])).toContain("`gog.email` is defined twice");
});

test("a key that is not the name is refused", async () => {
  expect(await faultOf([{ ...EMAIL, operations: { write: OPERATION } }])).toContain("must be the same");
  expect(await faultOf({ "gog.mail": EMAIL })).toContain("must be the same");
  expect(await faultOf([{ ...EMAIL, operations: [OPERATION, OPERATION] }])).toContain("defined twice");
  expect(await faultOf([{ ...EMAIL, operations: [{ ...OPERATION, name: "read mail" }] }])).toContain(
    "`read mail`",
  );
  expect(await faultOf([{ ...EMAIL, operations: [{ description: "Reads." }] }])).toContain("no `name`");
});

test("three spellings of a key mean the same, and `null` means that there is not valid", async () => {
  const schema = { type: "object" };
  const spellings = [
    { requires_auth: false, input_schema: schema, output_schema: null },
    { "requires-auth": false, "input-schema": schema },
    { requiresAuth: false, inputSchema: schema, outputSchema: null },
  ];
  for (const spelled of spellings) {
    const answer = await readCapabilityDefinitions(
      [{ ...EMAIL, operations: [{ ...OPERATION, ...spelled }] }],
      SOURCE,
    );
    expect(answer.ok && answer.value[0]?.operations[0]).toEqual({
      ...OPERATION,
      requiresAuth: false,
      mutating: false,
      idempotent: false,
      inputSchema: schema,
    });
  }
});

test("chat types are lower-cased, and none at all means that nothing was said", async () => {
  const types = { allowed_chat_types: [" Private", "GROUP", "group"] };
  const answer = await readCapabilityDefinitions([{ ...EMAIL, ...types }], SOURCE);
  expect(answer.ok && answer.value[0]?.allowedChatTypes).toEqual(["private", "group"]);
  const none = await readCapabilityDefinitions([{ ...EMAIL, allowed_chat_types: [] }], SOURCE);
  expect(none.ok && none.value[0]).not.toHaveProperty("allowedChatTypes");
  expect(await faultOf([{ ...EMAIL, allowed_chat_types: "private" }])).toContain("list");
  expect(await faultOf([{ ...EMAIL, allowed_chat_types: [1] }])).toContain("list");
});

test("a flag is true or false, so that no change passes for a reading", async () => {
  for (const key of ["mutating", "requires_auth", "idempotent"]) {
    const operations = [{ ...OPERATION, [key]: "yes" }];
    expect(await faultOf([{ ...EMAIL, operations }])).toContain("it must be true or false");
  }
  expect(await faultOf([{ ...EMAIL, sensitive: 1 }])).toContain("it must be true or false");
});

test("a schema that cannot be used is found at once", async () => {
  const operations = [{ ...OPERATION, input_schema: { type: "strange" } }];
  expect(await faultOf([{ ...EMAIL, operations }])).toContain("the schema can't be used");
  expect(await faultOf([{ ...EMAIL, operations: [{ ...OPERATION, output_schema: [] }] }])).toContain(
    "object",
  );
  const large = { type: "object", description: "x".repeat(100_000) };
  expect(await faultOf([{ ...EMAIL, operations: [{ ...OPERATION, input_schema: large }] }])).toContain("100");
});

test("a provider that signs nobody in has no operation that requires it", async () => {
  const silent = await readCapabilityDefinitions([EMAIL], { namespace: "gog", canSignIn: false });
  expect(silent.ok && silent.value[0]?.operations[0]?.requiresAuth).toBe(false);
  const operations = [{ ...OPERATION, requires_auth: true }];
  expect(await faultOf([{ ...EMAIL, operations }], { namespace: "gog", canSignIn: false })).toContain(
    "sign-in",
  );
});

test("what is no definition at all, or too much, is one fault", async () => {
  expect(await faultOf("mail")).toContain("`mail`");
  expect(await faultOf(null)).toContain("`null`");
  expect(await faultOf([7])).toContain("each entry must be an object");
  expect(await faultOf([{ ...EMAIL, description: "x".repeat(20_000) }])).toContain("20000 characters");
  const many = Array.from({ length: 300 }, (_, index) => ({ ...EMAIL, id: `gog.c${index}` }));
  expect(await faultOf(many)).toContain("300 entries");
  const circle: Record<string, unknown> = { ...EMAIL };
  circle.self = circle;
  expect(await faultOf([circle])).toContain("cannot be written as JSON");
});

test("descriptions are cleaned of what nobody sees", async () => {
  const answer = await readCapabilityDefinitions(
    [{ ...EMAIL, description: "Mail\u202E of yours.\u200B" }],
    SOURCE,
  );
  expect(answer.ok && answer.value[0]?.description).toBe("Mail of yours.");
});

test("no definitions are a provider that offers nothing", async () => {
  expect(await readCapabilityDefinitions([], SOURCE)).toEqual({ ok: true, value: [] });
});
