/** Registering providers: each whole or not at all, and none in the way of another. */
import { expect, test } from "vitest";
import { offer, wireProvider } from "../../../test/support/capability-broker.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { answerFault, answerWith, type CapabilityProvider } from "../src/capability.ts";
import { createRegistry } from "../src/provider-registry.ts";

const define = (id: string): object => ({
  id,
  description: "Something.",
  operations: [{ name: "read", description: "Reads." }],
});

verifies("case 117", "a second provider with a namespace is refused, and the first works", async () => {
  const first = wireProvider(offer("desk", [define("desk.mail")]));
  const second = { ...wireProvider(offer("desk", [define("desk.other")])), name: "copy" };
  const registry = createRegistry([first, second]);
  const [good, bad] = await registry.statuses();
  expect(good).toMatchObject({ name: "desk", capabilities: ["desk.mail"] });
  expect(good?.fault).toBeUndefined();
  expect(bad).toMatchObject({ name: "copy", capabilities: [], fault: { code: "capability_invalid_input" } });
  expect(bad?.fault?.message).toContain("belongs to the provider `desk`");
  expect(await registry.find("desk.other")).toBeUndefined();
});

verifies(
  "case 117",
  "a provider is registered whole or not at all, and others are registered all the same",
  async () => {
    const registry = createRegistry([
      wireProvider(offer("half", [define("half.good"), define("bad")])),
      wireProvider(offer("twice", [define("twice.one"), define("twice.one")])),
      wireProvider(offer("desk", [define("desk.mail"), define("desk.calendar")])),
    ]);
    expect((await registry.all()).map(({ definition }) => definition.id)).toEqual([
      "desk.calendar",
      "desk.mail",
    ]);
    expect(await registry.find("half.good")).toBeUndefined();
    const codes = (await registry.statuses()).map(({ fault }) => fault?.code);
    expect(codes).toEqual(["capability_invalid_input", "capability_invalid_input", undefined]);
  },
);

test("a provider that throws, refuses or hangs is reported and hinders no other", async () => {
  const failing = (
    namespace: string,
    definitions: CapabilityProvider["definitions"],
  ): CapabilityProvider => ({
    ...offer(namespace, []),
    definitions,
  });
  const registry = createRegistry([
    wireProvider(failing("throws", () => Promise.reject(new Error("no such file")))),
    wireProvider(failing("refuses", async () => answerFault("capability_backend_unavailable", "Not now."))),
    wireProvider(
      failing("hangs", () => new Promise(() => undefined)),
      { timeoutMs: 20 },
    ),
    wireProvider(offer("desk", [define("desk.mail")])),
  ]);
  expect((await registry.all()).map(({ definition }) => definition.id)).toEqual(["desk.mail"]);
  const messages = (await registry.statuses()).map(({ fault }) => fault?.message);
  expect(messages[0]).toContain("no such file");
  expect(messages[1]).toBe("Not now.");
  expect(messages[2]).toContain("did not answer within 0.02 seconds");
  expect(messages[3]).toBeUndefined();
});

test("nobody is asked before somebody needs it, and then once", async () => {
  const asked: string[] = [];
  const counting = (namespace: string): CapabilityProvider => ({
    ...offer(namespace, []),
    async definitions() {
      asked.push(namespace);
      return answerWith([define(`${namespace}.mail`)]);
    },
  });
  const registry = createRegistry([wireProvider(counting("desk")), wireProvider(counting("gog"))]);
  expect(asked).toEqual([]);
  await Promise.all([registry.find("desk.mail"), registry.find("desk.other")]);
  expect(asked).toEqual(["desk"]);
  await Promise.all([registry.all(), registry.statuses(), registry.all()]);
  expect(asked).toEqual(["desk", "gog"]);
  expect(await registry.statuses("gog")).toHaveLength(1);
});

test("a provider that failed is asked again after half a minute", async () => {
  let time = 0;
  let answers = 0;
  const provider: CapabilityProvider = {
    ...offer("desk", []),
    definitions: async () =>
      ++answers === 1
        ? answerFault("capability_backend_unavailable", "Not yet.")
        : answerWith([define("desk.mail")]),
  };
  const registry = createRegistry([wireProvider(provider)], { now: () => time });
  expect(await registry.find("desk.mail")).toBeUndefined();
  time = 29_999;
  expect(await registry.find("desk.mail")).toBeUndefined();
  expect(answers).toBe(1);
  time = 30_000;
  expect((await registry.find("desk.mail"))?.definition.id).toBe("desk.mail");
  time = 1_000_000;
  await registry.all();
  expect(answers).toBe(2);
});

test("what is wrong with the wiring itself is told without asking anybody", async () => {
  const silent: CapabilityProvider = {
    ...offer("desk", []),
    definitions: () => Promise.reject(new Error("asked")),
  };
  const { provider: _, ...unusable } = wireProvider(silent);
  const fault = { code: "capability_backend_unavailable", message: "No command." };
  const registry = createRegistry([
    { ...unusable, name: "empty", fault },
    wireProvider(silent, { namespace: "Desk" }),
    wireProvider(silent, { namespace: "other" }),
  ]);
  const messages = (await registry.statuses()).map((status) => status.fault?.message ?? "");
  expect(messages[0]).toBe("No command.");
  expect(messages[1]).toContain("lowercase");
  expect(messages[2]).toContain('but declares "desk"');
});

test("closing closes every provider, also when one fails at it", async () => {
  const closed: string[] = [];
  const closing = (namespace: string, close: () => Promise<void>): CapabilityProvider => ({
    ...offer(namespace, []),
    close,
  });
  const registry = createRegistry([
    wireProvider(closing("first", () => Promise.reject(new Error("stuck")))),
    wireProvider(closing("second", async () => void closed.push("second"))),
  ]);
  await registry.close();
  expect(closed).toEqual(["second"]);
});
