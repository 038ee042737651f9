import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetier, type ViewOptions } from "metier";
import { describe, expect, test } from "vitest";

const metier = await createMetier({ home: join(tmpdir(), "metier-no-such-home"), autoDiscover: false });
const open = (options: unknown) => () => metier.for(options as ViewOptions);

describe("the options of `metier.for`", () => {
  test("must say for whom", () => {
    expect(open(undefined)).toThrow("`userId` is missing");
    expect(open({ tenantId: "acme" })).toThrow("`userId` is missing");
    for (const userId of ["", " ", "a\0b", 7, null]) expect(open({ userId })).toThrow("`userId`");
    expect(open({ userId: "ada", tenantId: "" })).toThrow("`tenantId`");
  });

  test("that are not known are thrown with a near name, also inside", () => {
    const unknown = (options: object) => {
      try {
        metier.for({ userId: "ada", ...options });
      } catch (error) {
        return error;
      }
      return undefined;
    };
    expect(unknown({ dney: ["x"] })).toMatchObject({ code: "option.unknown", hint: "Did you mean `deny`?" });
    expect(unknown({ limits: { maxTokns: 1 } })).toMatchObject({
      code: "option.unknown",
      hint: "Did you mean `maxTokens`?",
    });
    expect(unknown({ chat: { chatTyp: "private" } })).toMatchObject({
      code: "option.unknown",
      hint: "Did you mean `chatType`?",
    });
  });

  test("of a wrong kind are thrown, and no value of `env` is in the message", () => {
    expect(open({ userId: "ada", allow: "report" })).toThrow("`allow` of `metier.for`");
    expect(open({ userId: "ada", approve: "yes" })).toThrow("must be `all` or a function");
    expect(open({ userId: "ada", limits: { maxTokens: 0 } })).toThrow("`maxTokens`");
    expect(open({ userId: "ada", limits: { timeoutMs: "soon" } })).toThrow("`timeoutMs`");
    const env = { KEY: "a-secret-value", OTHER: undefined };
    expect(open({ userId: "ada", env })).toThrow(/^`env\.OTHER` of `metier\.for` is (?!.*a-secret-value)/);
  });
});
