import { Readable } from "node:stream";
import { CAPABILITY_CODES, type MutationPlan } from "@metier/capabilities";
import { describe, expect, test } from "vitest";
import { createWorld } from "../../../test/support/world.ts";
import { exitForFault } from "../src/actions/capability.ts";
import { confirmInTerminal, questionsFor } from "../src/actions/run-request.ts";
import { type CliContext, readPiped } from "../src/context.ts";
import { faultText } from "../src/output/capabilities-text.ts";
import { jsonText, styleFor } from "../src/output/style.ts";

describe("the words of metier capability", () => {
  test.each<readonly [message: string, args: readonly string[]]>([
    ["`remove` is not an action of `metier capability`.", ["remove"]],
    ["`auth` is not an action of `metier capability`.", ["auth"]],
    ["`auth forget` is not an action of `metier capability`.", ["auth", "forget", "notes.pad"]],
    ["Usage: `metier capability list [--all]`.", ["list", "notes.pad"]],
    ["Usage: `metier capability invoke ID OPERATION [--input JSON]`.", ["invoke", "notes.pad"]],
    [
      "Usage: `metier capability invoke ID OPERATION [--input JSON]`.",
      ["invoke", "notes.pad", "add", "--operation", "add"],
    ],
    ["Usage: `metier capability auth begin ID [--account A] [--listen]`.", ["auth", "begin"]],
    ["Usage: `metier capability auth poll FLOW [--wait]`.", ["auth", "poll"]],
    [
      "Usage: `metier capability auth complete FLOW [--code CODE | --callback-url URL]`.",
      ["auth", "complete"],
    ],
    ["Usage: `metier capability auth unlink ID [--account A]`.", ["auth", "unlink"]],
    ["`--input` is not a JSON object.", ["invoke", "notes.pad", "add", "--input", "[1]"]],
    ["`--input -` reads piped input, but nothing is piped in.", ["invoke", "a.b", "c", "--input", "-"]],
    ["`--code -` reads piped input, but nothing is piped in.", ["auth", "complete", "caf_1", "--code", "-"]],
  ])("%s", async (message, args) => {
    const { code, json } = await createWorld().cli("capability", ...args, "--json");
    expect([code, json.error.message]).toEqual([2, message]);
  });

  test("the overview has the command in a group of its own, and its help has examples", async () => {
    const world = createWorld();
    expect((await world.cli("help")).stdout).toMatch(/\nConnecting\n {2}capability +Use capabilities/);
    const { stdout } = await world.cli("capability", "--help");
    expect(stdout).toContain("metier capability auth begin gog.email --account work");
    expect(stdout).toContain("-c, --capability <id>");
  });
});

test("a value that is piped in is read whole, and only so much", async () => {
  const piped = (...parts: readonly (string | Uint8Array)[]): CliContext =>
    ({ io: { input: () => Readable.from(parts) } }) as unknown as CliContext;
  const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
  expect(await readPiped(piped("a", first, second, "b\n"), "--input -")).toBe("aéb\n");
  const much = Array.from({ length: 11 }, () => new Uint8Array(1024 * 1024));
  await expect(readPiped(piped(...much), "--input -")).rejects.toThrow("more than 10 MB");
});

describe("how a capability that was not performed ends the command", () => {
  test("every code has an exit code, and one of a provider's own is a failure", () => {
    const codes = Object.keys(CAPABILITY_CODES);
    const exits = Object.fromEntries(codes.map((code) => [code, exitForFault({ code })]));
    expect(Object.values(exits).every((exit) => exit > 0)).toBe(true);
    expect(exits).toMatchObject({
      capability_not_found: 1,
      capability_invalid_input: 2,
      capability_mutation_not_confirmed: 3,
      capability_rate_limited: 4,
      capability_backend_unavailable: 5,
      capability_cancelled: 130,
    });
    expect(exitForFault({ code: "gog_quota" })).toBe(5);
    expect(exitForFault({ code: "constructor" })).toBe(5);
  });

  test("the text has the code and what to do, and nothing that a terminal obeys", () => {
    expect(
      faultText({
        code: "capability_rate_limited",
        message: "Too often.",
        hint: "Wait.",
        retryAfterSeconds: 3,
      }),
    ).toBe("error: Too often. (capability_rate_limited)\n  → Wait. Try again in 3 s.");
    expect(faultText({ code: "a\nb", message: "\u001b[31mno" })).toBe(
      "error: \ufffd[31mno (a\ufffdb)\n  → The provider reported this. `metier capability list` shows the inputs it takes.",
    );
  });
});

const PLAN: MutationPlan = {
  planId: "plan_0123456789abcdef",
  fingerprint: "sha256:0",
  caller: { userId: "u1", skill: "mail" },
  capability: "gog.email",
  operation: {
    name: "send",
    description: "Sends mail.",
    requiresAuth: true,
    mutating: true,
    idempotent: false,
  },
  account: "acc-1",
  accountName: "ada@example.org",
  input: { to: "a@example.org", text: "x\u202ey\u0007" },
};

function terminal(answer: string): { readonly io: CliContext["io"]; shown(): string } {
  let shown = "";
  const write = (text: string): void => {
    shown += text;
  };
  const io = {
    interactive: true,
    stdout: { write },
    stderr: { write },
    ask: async (question: string) => {
      write(question);
      return answer;
    },
  } as unknown as CliContext["io"];
  return { io, shown: () => shown };
}

describe("the question about a change", () => {
  test("shows all of it, with what cannot be seen as its code", async () => {
    const { io, shown } = terminal("yes");
    expect(await confirmInTerminal(io)(PLAN)).toBe("yes");
    for (const line of [
      "  plan: plan_0123456789abcdef",
      "  for: u1",
      "  skill: mail",
      "  capability: gog.email",
      "  operation: send - Sends mail.",
      "  account: acc-1, ada@example.org",
      '      "text": "x\\u202ey\\u0007"',
    ]) {
      expect(shown().split("\n")).toContain(line);
    }
  });

  test.each(["", "y", "ja", "yes please", "no"])("%j is no", async (answer) => {
    expect(await confirmInTerminal(terminal(answer).io)(PLAN)).toBe("no");
  });

  test("is asked in runs and chats too, whatever --approve says, and nowhere without a terminal", async () => {
    const { io, shown } = terminal("no");
    const context = { io } as CliContext;
    const { approve, confirm } = questionsFor(context, { approve: true, json: false });
    expect([approve, await confirm?.(PLAN)]).toEqual(["all", "no"]);
    expect(shown()).toContain("Type `yes`");
    expect(questionsFor(context, { approve: true, json: true })).toEqual({ approve: "all" });
    const piped = { io: { ...io, interactive: false } } as CliContext;
    expect(questionsFor(piped, { approve: true, json: false })).toEqual({ approve: "all" });
  });
});

test("JSON for people means exactly the value", () => {
  const value = { text: "\u200b\u202e\u{e0041}\ud800é👍\n\u0085\u2028" };
  const text = jsonText(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).toBe('{\n  "text": "\\u200b\\u202e\\udb40\\udc41\\ud800é👍\\n\\u0085\\u2028"\n}');
  expect(styleFor(false).bold(text)).toBe(text);
});
