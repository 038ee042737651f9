import { UsageError } from "@metier/base/errors";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { createMetier } from "../../src/runtime/create-metier.ts";
import type { MetierOptions } from "../../src/runtime/metier-options.ts";

const answer = async (): Promise<unknown> => ({ ok: true, value: {} });
const provider = { namespace: "notes", definitions: answer, invoke: answer };

/** What a JavaScript program might pass. */
function create(capabilities: unknown): Promise<unknown> {
  return createMetier({ home: temporaryFolder(), capabilities } as MetierOptions);
}

test.each<readonly [capabilities: unknown, message: string]>([
  [[], "The option `capabilities` is a list; it must be an object."],
  [{ provider: [] }, "`createMetier({ capabilities })` has no option `provider`."],
  [{ confirm: true }, "The option `capabilities.confirm` is a boolean; it must be a function."],
  [
    { providers: provider },
    "The option `capabilities.providers` is an object; it must be a list of providers.",
  ],
  [{ providers: ["notes"] }, "A provider in `capabilities.providers` is a string, not an object."],
  [{ providers: [{ ...provider, namespace: "No.tes" }] }, "The `namespace` of a provider is `No.tes`."],
  [{ providers: [{ ...provider, namespace: undefined }] }, "The `namespace` of a provider is missing."],
  [
    { providers: [{ ...provider, invoke: undefined }] },
    "`invoke` of the provider `notes` is missing; it must be a function.",
  ],
  [
    { providers: [{ ...provider, authPoll: "soon" }] },
    "`authPoll` of the provider `notes` is a string; it must be a function.",
  ],
  [{ providers: [provider, { ...provider }] }, "Two providers have the namespace `notes`."],
])("%j is a usage error that says what is wrong", async (capabilities, message) => {
  const fault = await create(capabilities).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(UsageError);
  expect(fault).toMatchObject({ message });
});

test("a name that is nearly right gets a suggestion", async () => {
  await expect(create({ provider: [] })).rejects.toMatchObject({ hint: "Did you mean `providers`?" });
  await expect(create({ zzzz: 1 })).rejects.toMatchObject({ hint: "Use `providers` and `confirm`." });
});

test("providers may be objects or of a class, and nothing of them is called", async () => {
  let calls = 0;
  class Counting {
    readonly namespace = "counting";
    async definitions(): Promise<unknown> {
      calls += 1;
      return answer();
    }
    async invoke(): Promise<unknown> {
      calls += 1;
      return answer();
    }
  }
  await create({ providers: [provider, new Counting()], confirm: () => "no" });
  expect(calls).toBe(0);
});
