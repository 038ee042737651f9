import { answerWith, type CapabilityBroker } from "@metier/capabilities";
import { expect, test } from "vitest";
import { followBroker } from "../../src/runtime/capabilities.ts";

const CALLER = { userId: "u1" };

/** Brokers that tell which config they were made for, and a config that can be changed. */
function follow(options: { readonly held?: Promise<void>; readonly fails?: number } = {}) {
  const made: string[] = [];
  const closed: string[] = [];
  let wiring = "one";
  let failures = options.fails ?? 0;
  const unused = (): never => {
    throw new Error("not asked for");
  };
  const broker = followBroker({
    wiring: () => wiring,
    async compose() {
      const name = wiring;
      made.push(name);
      if (failures > 0) {
        failures -= 1;
        throw new Error("no disk");
      }
      const parts: CapabilityBroker = {
        list: async () => [],
        preflight: async () => undefined,
        async invoke(_caller, { capability, operation }) {
          await options.held;
          const requestId = `cap_${name}`;
          return answerWith({ requestId, capability, operation, output: {}, isRepeat: false });
        },
        auth: {
          begin: unused,
          list: async () => [],
          complete: unused,
          completeCallback: unused,
          poll: unused,
          unlink: unused,
        },
        forget: async () => undefined,
        providers: async () => [],
        async close() {
          closed.push(name);
        },
      };
      return parts;
    },
  });
  const invoke = async (): Promise<string> => {
    const answer = await broker.invoke(CALLER, { capability: "a.b", operation: "c" });
    return answer.ok ? answer.value.requestId : answer.fault.code;
  };
  return {
    broker,
    invoke,
    made,
    closed,
    rewire(next: string) {
      wiring = next;
    },
  };
}

test("nothing is made before the first call, and one broker serves all of them", async () => {
  const { broker, invoke, made } = follow();
  expect(made).toEqual([]);
  await Promise.all([invoke(), broker.list(CALLER), broker.providers(), broker.auth.list(CALLER)]);
  expect(made).toEqual(["one"]);
});

test("another wiring makes another broker, and the one before is closed", async () => {
  const { invoke, made, closed, rewire } = follow();
  expect(await invoke()).toBe("cap_one");
  rewire("two");
  expect(await invoke()).toBe("cap_two");
  expect(made).toEqual(["one", "two"]);
  await expect.poll(() => closed).toEqual(["one"]);
});

test("a call that is under way ends in the broker it began in, which is closed after it", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { broker, invoke, closed, rewire } = follow({ held });
  const first = invoke();
  rewire("two");
  await broker.list(CALLER);
  expect(closed).toEqual([]);
  release();
  expect(await first).toBe("cap_one");
  await expect.poll(() => closed).toEqual(["one"]);
});

test("closing ends every broker, and a later call makes a new one", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { broker, invoke, made, closed, rewire } = follow({ held });
  const first = invoke();
  rewire("two");
  await broker.list(CALLER);
  await broker.close();
  expect([...closed].sort()).toEqual(["one", "two"]);
  release();
  await first;
  expect(await invoke()).toBe("cap_two");
  expect(made).toEqual(["one", "two", "two"]);
  await broker.close();
  expect([...closed].sort()).toEqual(["one", "two", "two"]);
});

test("closing what was never used makes nothing", async () => {
  const { broker, made } = follow();
  await broker.close();
  expect(made).toEqual([]);
});

test("a broker that cannot be made is a fault of that call, and the next one tries again", async () => {
  const { invoke, made } = follow({ fails: 1 });
  await expect(invoke()).rejects.toThrow("no disk");
  expect(await invoke()).toBe("cap_one");
  expect(made).toEqual(["one", "one"]);
});
