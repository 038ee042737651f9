import { UsageError } from "@metier/base/errors";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { describe, expect, test } from "vitest";

interface Options {
  readonly skill: string;
  readonly onEvent?: () => void;
}

const KEYS: OptionKeys<Options> = { skill: true, onEvent: true };

function faultOf(options: unknown): unknown {
  try {
    checkKeys("run", options, KEYS);
  } catch (fault) {
    return fault;
  }
  return undefined;
}

describe("the keys of options [L6]", () => {
  test("known keys, no options, and an option that is `undefined` pass", () => {
    for (const options of [{ skill: "a" }, {}, undefined, { onEvent: undefined }]) {
      expect(faultOf(options)).toBeUndefined();
    }
  });

  test("an unknown key is refused with the nearest known name", () => {
    const fault = faultOf({ skill: "a", onEvnt: () => undefined });
    expect(fault).toBeInstanceOf(UsageError);
    expect(fault).toMatchObject({
      code: "option.unknown",
      message: "`run` has no option `onEvnt`.",
      hint: "Did you mean `onEvent`?",
    });
  });

  test("a part of a name is near to it", () => {
    expect(faultOf({ event: 1 })).toMatchObject({ hint: "Did you mean `onEvent`?" });
  });

  test("a key that is near to none gets the whole list", () => {
    expect(faultOf({ zzz: 1 })).toMatchObject({ hint: "Use `skill` and `onEvent`." });
  });

  test("a name that every object inherits is unknown, too", () => {
    expect(faultOf({ toString: 1 })).toMatchObject({ code: "option.unknown" });
    expect(faultOf(JSON.parse('{"__proto__": 1}'))).toMatchObject({ code: "option.unknown" });
  });

  test.each([null, "a", 1, ["a"]])("%j is no options object", (options) => {
    expect(faultOf(options)).toMatchObject({
      code: "usage.invalid",
      message: "`run` takes its options as one object.",
    });
  });
});
