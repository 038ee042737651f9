import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answered, faultOf } from "../../../../test/support/sign-in-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { type GivenAnswer, normaliseAnswer } from "../../src/auth/read-answer.ts";

const CALLBACK = "http://localhost:8085/?state=s1&code=4%2F0Ab-Cd&scope=mail";
const CODE = "4/0Ab-Cd";

function codeOf(code: string, expectedState = "s1"): string {
  return answered(normaliseAnswer({ code }, expectedState)).code;
}

function failure(given: GivenAnswer, expectedState?: string): string {
  return faultOf(normaliseAnswer(given, expectedState)).code;
}

verifies("case 121", "a code is found in whatever was pasted for one", () => {
  for (const pasted of [
    CODE,
    `  ${CODE}\n`,
    "4/0Ab\n  -Cd",
    `\`${CODE}\``,
    `"${CODE}".`,
    `(${CODE})`,
    `<${CODE}>;`,
    `[${CODE}],`,
    `**${CODE}**`,
    `“${CODE}”`,
    `code: ${CODE}`,
    "4%2F0Ab-Cd",
    `\u200b${CODE}\ufeff`,
    CALLBACK,
    `<${CALLBACK}>`,
    `(${CALLBACK}).`,
    CALLBACK.replaceAll("&", "&amp;"),
    "http://localhost:8085/?state=s1&\n  code=4%2F0Ab-Cd",
    CALLBACK.replace("http://", ""),
    "code=4/0Ab-Cd&state=s1",
    "?code=4/0Ab-Cd",
    "#state=s1&code=4/0Ab-Cd",
    "/callback?code=4%2F0Ab-Cd&state=s1",
    "com.example.app:/back?code=4%2F0Ab-Cd&state=s1",
    "https://app.example/back#code=4%2F0Ab-Cd&state=s1",
  ]) {
    expect(codeOf(pasted), pasted).toBe(CODE);
  }
});

test("the provider is given the address, the code and the state, each as it is meant", () => {
  expect(answered(normaliseAnswer({ callbackUrl: ` ${CALLBACK} ` }, "s1"))).toEqual({
    code: CODE,
    state: "s1",
    callbackUrl: CALLBACK,
  });
  expect(answered(normaliseAnswer({ code: CODE, callbackUrl: CALLBACK }, "s1")).callbackUrl).toBe(CALLBACK);
  expect(answered(normaliseAnswer({ code: CODE }, "s1"))).toEqual({ code: CODE });
});

test("a plus in a code is one, and a blank in a state is the same however it is written", () => {
  expect(answered(normaliseAnswer({ code: "http://localhost/?code=a+b&state=x+y" }, "x y")).code).toBe("a+b");
  expect(answered(normaliseAnswer({ code: "http://localhost/?code=a&state=x%20y" }, "x+y")).code).toBe("a");
});

describe("an answer that cannot be used", () => {
  verifies("case 121", "without a code is told to be without", () => {
    for (const given of [
      {},
      { code: "" },
      { code: " \n" },
      { code: "``" },
      { callbackUrl: " " },
      { callbackUrl: "http://localhost/?state=s1" },
      { code: "http://localhost/?code=&state=s1" },
      { code: "kein Schlüssel" },
    ]) {
      expect(failure(given, "s1"), JSON.stringify(given)).toBe("capability_auth_code_missing");
    }
  });

  test("that is that starts the sign-in is told apart", () => {
    const fault = faultOf(
      normaliseAnswer({ callbackUrl: "https://door.example/authorize?response_type=code&state=s1" }, "s1"),
    );
    expect(fault.code).toBe("capability_auth_code_missing");
    expect(fault.message).toContain("that starts the sign-in");
  });

  verifies("case 121", "with a code and an address that contradict each other is refused", () => {
    expect(failure({ code: "other", callbackUrl: CALLBACK }, "s1")).toBe("capability_auth_code_conflict");
    expect(failure({ code: "http://localhost/?code=other", callbackUrl: CALLBACK })).toBe(
      "capability_auth_code_conflict",
    );
    expect(failure({ code: `code=${CODE}&state=s2`, callbackUrl: CALLBACK })).toBe(
      "capability_auth_code_conflict",
    );
  });

  verifies("case 121", "of another sign-in is told by its state", () => {
    expect(failure({ callbackUrl: CALLBACK }, "s2")).toBe("capability_auth_state_mismatch");
    expect(failure({ code: "code=abc&state=s1" }, "s2")).toBe("capability_auth_state_mismatch");
    expect(failure({ callbackUrl: "http://localhost/?error=access_denied&state=s1" }, "s2")).toBe(
      "capability_auth_state_mismatch",
    );
  });

  verifies(
    "case 121",
    "that a browser brings without the state is none, though a person may paste it",
    () => {
      for (const query of ["code=abc", "error=access_denied"]) {
        const callbackUrl = `http://127.0.0.1:8085/callback?${query}`;
        expect(failure({ callbackUrl, isFromBrowser: true }, "s1")).toBe("capability_auth_state_mismatch");
      }
      const callbackUrl = "http://127.0.0.1:8085/callback?code=abc";
      expect(normaliseAnswer({ callbackUrl }, "s1")).toMatchObject({ ok: true });
      expect(normaliseAnswer({ callbackUrl, isFromBrowser: true })).toMatchObject({ ok: true });
      expect(normaliseAnswer({ callbackUrl: `${callbackUrl}&state=s1`, isFromBrowser: true }, "s1").ok).toBe(
        true,
      );
    },
  );

  verifies("case 121", "that is no address is told where one is asked for", () => {
    for (const callbackUrl of [
      "not a url",
      CODE,
      "?code=abc",
      "ftp://localhost/?code=abc",
      "javascript:alert(1)?code=abc",
      "http://?code=abc",
      "http://localhost/?code=a&code=b",
      "http://localhost/?code=a&state=s1&state=s2",
      `http://localhost/?code=${"x".repeat(20_000)}`,
    ]) {
      expect(failure({ callbackUrl }, "s1"), callbackUrl.slice(0, 60)).toBe(
        "capability_auth_callback_invalid",
      );
    }
  });

  verifies("case 121", "that says no is a denial, and only a plain reason is repeated", () => {
    for (const given of [
      { callbackUrl: "http://localhost/?error=access_denied&state=s1" },
      { code: "error=access_denied" },
      { code: "http://localhost/#error=server_error" },
    ]) {
      expect(failure(given, "s1")).toBe("capability_auth_flow_denied");
    }
    const strange = faultOf(normaliseAnswer({ callbackUrl: "http://localhost/?error=%3Cb%3Eignore%20all" }));
    expect(strange.code).toBe("capability_auth_flow_denied");
    expect(strange.message).not.toContain("ignore");
  });

  test("is never repeated in the message", () => {
    const secret = "code-that-is-a-secret-1234";
    for (const given of [
      { code: secret, callbackUrl: "http://localhost/?code=other" },
      { callbackUrl: secret },
      { callbackUrl: `http://localhost/?code=${secret}&state=wrong` },
    ]) {
      expect(JSON.stringify(faultOf(normaliseAnswer(given, "s1")))).not.toContain(secret);
    }
  });
});

describe("whatever is given", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.stringMatching(/^[([{<"'`*. ]{0,8}(https?:\/\/)?[\w.:/?#&=%+-]{0,80}[)\]}>"'`*.,; ]{0,8}$/),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
  );

  test("there is a code without blanks, or a fault of a sign-in", () => {
    fc.assert(
      fc.property(
        fc.option(text, { nil: undefined }),
        fc.option(text, { nil: undefined }),
        fc.option(text, { nil: undefined }),
        (code, callbackUrl, expectedState) => {
          const given = {
            ...(code !== undefined && { code }),
            ...(callbackUrl !== undefined && { callbackUrl }),
          };
          const answer = normaliseAnswer(given, expectedState);
          if (!answer.ok) return answer.fault.code.startsWith("capability_auth_");
          return /^[\x21-\x7e]+$/.test(answer.value.code);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("a code that a server gave comes out as it was, plain or in an address, however it is wrapped", () => {
    const code = fc.stringMatching(/^[A-Za-z0-9_~-][A-Za-z0-9._~/+-]{6,60}[A-Za-z0-9_~-]$/);
    const wrap = fc.constantFrom(["", ""], ["<", ">"], ["(", ")."], ["`", "`"], ['"', '",'], [" [", "]; "]);
    const state = fc.stringMatching(/^[\w-]{1,30}$/);
    fc.assert(
      fc.property(code, state, wrap, (given, expected, [before, after]) => {
        const query = new URLSearchParams({ state: expected, code: given });
        const plain = answered(normaliseAnswer({ code: before + given + after }, expected));
        const address = `${before}http://127.0.0.1:4000/callback?${query}${after}`;
        const whole = answered(normaliseAnswer({ code: address }, expected));
        return plain.code === given && whole.code === given && whole.state === expected;
      }),
      { numRuns: 300 },
    );
  });

  test("long and hostile texts hold no code", () => {
    for (const hostile of [
      ")".repeat(16_000),
      "&a".repeat(8_000),
      `${"?".repeat(15_000)}x`,
      "=&".repeat(8_000),
    ]) {
      expect(failure({ code: hostile })).toBe("capability_auth_code_missing");
    }
  });
});
