/**
 * Two secrets are planted in the user's config: a variable of a skill and the key of a model. Whatever happens in a run,
 * no byte of them is written, sent or returned, in any usual spelling, except to the process that declared the one and in
 * the header that needs the other.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { RunRequest, RunResult, Tool } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import { expect, test } from "vitest";
import { anthropicCall, anthropicMessage, anthropicText } from "../support/provider.ts";
import {
  type ProviderAnswer,
  type RecordingProvider,
  startRecordingProvider,
} from "../support/recording-provider.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld, programTool } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import type { World } from "../support/world.ts";

/** With characters that every encoding spells otherwise. */
const SKILL_SECRET = 'canary "käy"/+4711\\&=%; do not sing';
const MODEL_KEY = 'sk-canary/"0815"+of==the-model';

/** Every spelling in which a secret could be found again without effort. */
function spellings(secret: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    return text.slice(shift === 0 ? 0 : 4, Math.floor(((bytes.length + shift) * 8) / 6 / 4) * 4);
  });
  return new Map([
    ["plain", secret],
    ["as JSON", JSON.stringify(secret).slice(1, -1)],
    ["as JSON in JSON", JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ["in a URL", encodeURIComponent(secret)],
    ["as hexadecimal", bytes.toString("hex")],
    ...inBase64.map((text, shift) => [`as base64 from byte ${shift}`, text] as const),
    ...inBase64.map(
      (text, shift) =>
        [`as base64url from byte ${shift}`, text.replaceAll("+", "-").replaceAll("/", "_")] as const,
    ),
  ]);
}

const SECRETS = { "the skill's secret": SKILL_SECRET, "the model's key": MODEL_KEY };

function leaksIn(text: string, secrets: Readonly<Record<string, string>> = SECRETS): readonly string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    [...spellings(secret)].flatMap(([how, spelled]) => (text.includes(spelled) ? [`${name} ${how}`] : [])),
  );
}

/** Every file below the folder, by its path, but for the one in which the secrets stand. */
function filesUnder(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => path !== join("home", ".metier", "config.toml"));
}

function expectNothingWritten({ root }: World): void {
  const files = filesUnder(root);
  expect(files.some((path) => path.endsWith("events.jsonl"))).toBe(true);
  const leaks = files.flatMap((path) =>
    leaksIn(`${path}\n${readFileSync(join(root, path), "utf8")}`).map((leak) => `${path}: ${leak}`),
  );
  expect(leaks).toEqual([]);
}

/** The key stands in its own header, once for each request, and nowhere else. */
function expectNothingSent({ requests }: RecordingProvider): void {
  expect(requests.length).toBeGreaterThan(0);
  for (const { path, headers, body } of requests) {
    const at = headers.findIndex((name) => name.toLowerCase() === "x-api-key");
    expect(headers[at + 1]).toBe(MODEL_KEY);
    const others = headers.filter((_, index) => index !== at + 1);
    expect(leaksIn([path, ...others, body].join("\n"))).toEqual([]);
  }
}

function createCanaryWorld(url: string): World {
  const world = createRunWorld({ singer: ["env: [SONG_KEY]", "Sing."] });
  world.write({
    "home/.metier/config.toml": [
      '[models.default]\nprovider = "anthropic"\nmodel = "m"',
      `base-url = "${url}/v1"\napi-key = ${JSON.stringify(MODEL_KEY)}`,
      `[skills.singer]\nSONG_KEY = ${JSON.stringify(SKILL_SECRET)}\n`,
    ].join("\n"),
  });
  return world;
}

interface Outcome {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
}

/** One run with a recording, and all that must hold after it. */
async function sing(
  answers: readonly ProviderAnswer[],
  request: Partial<RunRequest> = {},
  tools: readonly Tool[] = [],
): Promise<Outcome> {
  const provider = await startRecordingProvider(...answers);
  const world = createCanaryWorld(provider.url);
  const metier = await world.metier({ tools });
  const events: RunEvent[] = [];
  const result = await metier.run({
    skill: "singer",
    message: `Sing of ${SKILL_SECRET} and ${MODEL_KEY}.`,
    context: JSON.stringify({ SKILL_SECRET, MODEL_KEY }),
    approve: "all",
    record: join(world.root, "recording.jsonl"),
    ...request,
    onEvent(event) {
      events.push(event);
      request.onEvent?.(event);
    },
  });
  expect(leaksIn(JSON.stringify([result, events]))).toEqual([]);
  expectNothingSent(provider);
  expectNothingWritten(world);
  return { result, events };
}

const says = (...pieces: readonly string[]): ProviderAnswer => ({
  events: anthropicMessage("end_turn", ...textIn(pieces)),
});
const calls = (tool: string, input: object): ProviderAnswer => ({
  events: anthropicMessage("tool_use", ...anthropicCall(tool, JSON.stringify(input))),
});

/** One block of text that comes in the given pieces. */
function textIn(pieces: readonly string[]): readonly object[] {
  const [start, delta, stop] = anthropicText("");
  const deltas = pieces.map((text) => ({ ...delta, delta: { type: "text_delta", text } }));
  return [start, ...deltas, stop].filter((event) => event !== undefined);
}

test("every spelling that is looked for would be found", () => {
  const encoded = [
    SKILL_SECRET,
    JSON.stringify({ key: SKILL_SECRET }),
    JSON.stringify(JSON.stringify({ key: SKILL_SECRET })),
    `https://example.com/?key=${encodeURIComponent(SKILL_SECRET)}`,
    Buffer.from(SKILL_SECRET).toString("hex"),
    ...["", "a", "ab", "user:"].map((before) => Buffer.from(`${before}${SKILL_SECRET}`).toString("base64")),
    Buffer.from(SKILL_SECRET).toString("base64url"),
  ];
  for (const text of encoded) expect(leaksIn(text), text).not.toEqual([]);
});

test("a run that ends well: what a model writes is redacted, also in pieces", async () => {
  const pieces = [...`It is ${SKILL_SECRET}, or ${encodeURIComponent(MODEL_KEY)}.`];
  const { result } = await sing([says(...pieces)]);
  expect(result).toMatchObject({
    status: "completed",
    text: expect.stringMatching(/^It is .*SONG_KEY.*, or .*\.$/),
  });
});

test("a model that puts a secret into a tool call and gets it back", async () => {
  const echo = programTool("helper", async ({ text }) => ({
    text: `You said ${String(text)}.`,
    isError: false,
  }));
  const { result } = await sing([calls("helper", { text: SKILL_SECRET }), says("Done.")], {}, [echo]);
  expect(result).toMatchObject({ status: "completed", iterations: 2 });
});

test("a failure: the provider sends the key back in its refusal", async () => {
  const body = JSON.stringify({
    type: "error",
    error: { type: "bad", message: `no ${MODEL_KEY} ${SKILL_SECRET}` },
  });
  const { result } = await sing([{ status: 400, body }]);
  expect(result).toMatchObject({ status: "failed", error: { code: "model.http" } });
});

test("a failure that is repeated: the reason of each retry is redacted too", async () => {
  const body = JSON.stringify({ type: "error", error: { type: "api_error", message: `lost ${MODEL_KEY}` } });
  const { result, events } = await sing([{ status: 500, body, headers: { "retry-after-ms": "1" } }]);
  expect(result.status).toBe("failed");
  expect(events.filter(({ type }) => type === "model-retried")).toHaveLength(2);
});

test("an answer that is no answer at all", async () => {
  const { result } = await sing([{ status: 200, body: `<html>${MODEL_KEY} ${SKILL_SECRET}</html>` }]);
  expect(result.status).toBe("failed");
});

test("a limit", async () => {
  const { result } = await sing(
    [
      {
        events: anthropicMessage(
          "tool_use",
          ...textIn([`So far ${SKILL_SECRET}`]),
          ...anthropicCall("helper", "{}"),
        ),
      },
    ],
    { limits: { maxIterations: 1 } },
    [programTool("helper", async () => ({ text: SKILL_SECRET, isError: false }))],
  );
  expect(result).toMatchObject({ status: "limited", limit: "iterations" });
});

test("cancelling in the middle of a secret", async () => {
  const cancel = new AbortController();
  const half = SKILL_SECRET.slice(0, 12);
  const { result } = await sing(
    [
      {
        events: anthropicMessage("end_turn", ...textIn(["A long while ago. ", `It is ${half}`])).slice(0, -3),
        hangs: true,
      },
    ],
    {
      signal: cancel.signal,
      onEvent: ({ type }) => {
        if (type === "text-delta") setTimeout(() => cancel.abort(), 50);
      },
    },
  );
  expect(result.status).toBe("cancelled");
});

test("a tool that crashes with the secret in its message", async () => {
  const crash = programTool("helper", async (_input, { env }) => {
    throw new Error(
      `no access with ${env.SONG_KEY}, ${encodeURIComponent(env.SONG_KEY ?? "")} and ${MODEL_KEY}`,
    );
  });
  const { result, events } = await sing([calls("helper", {}), says("It crashed.")], {}, [crash]);
  expect(result).toMatchObject({ status: "completed", text: "It crashed." });
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-finished", isError: true }));
});

test("a listener that fails with the secret in its message", async () => {
  const { result } = await sing([says("Done.")], {
    onEvent: ({ type }) => {
      if (type === "model-answered") throw new Error(`cannot show ${SKILL_SECRET}`);
    },
  });
  expect(result.status).toBe("completed");
});

describeSandbox("a process that declared it", () => {
  const PRINTING = [
    'echo "plain: $SONG_KEY"',
    'echo "to the other stream: $SONG_KEY" >&2',
    'printf %s "$SONG_KEY" | head -c 9; sleep 0.1; printf %s "$SONG_KEY" | tail -c +10',
    'printf %s "$SONG_KEY" | base64 -w0; echo',
    'printf "user:%s" "$SONG_KEY" | base64',
    "node -e 'console.log(JSON.stringify(process.env)); console.log(encodeURIComponent(process.env.SONG_KEY))'",
    "node -e 'console.log(Buffer.from(process.env.SONG_KEY).toString(\"hex\"))'",
    'echo "not found: $SONG_KEY" >&2; exit 3',
  ];

  verifies([185, 207], "has it, and what it prints in any spelling is redacted", async () => {
    const { result, events } = await sing([
      ...PRINTING.map((command) => calls("bash", { command })),
      calls("bash", { command: 'printf %s "$SONG_KEY" | wc -c' }),
      says("Done."),
    ]);
    expect(result).toMatchObject({ status: "completed", iterations: PRINTING.length + 2 });
    const printed = events.flatMap((event) => (event.type === "tool-finished" ? [event.text] : []));
    expect(printed.at(-1)).toContain(String(Buffer.byteLength(SKILL_SECRET)));
    for (const text of printed.slice(0, PRINTING.length)) expect(text).toContain("SONG_KEY");
  });

  test("may keep it in its own work folder, where no other tool shows it", async () => {
    const provider = await startRecordingProvider(
      calls("bash", { command: 'printf %s "$SONG_KEY" > "$HOME/kept"; ls "$HOME"' }),
      calls("bash", { command: 'cat "$HOME/kept"' }),
      calls("grep_search", { pattern: "canary", path: "." }),
      says("Done."),
    );
    const world = createCanaryWorld(provider.url);
    const metier = await world.metier();
    const result = await metier.run({ skill: "singer", approve: "all" });
    expect(result.files).toEqual([{ path: "kept", size: Buffer.byteLength(SKILL_SECRET) }]);
    expectNothingSent(provider);
    expect(leaksIn(JSON.stringify(result))).toEqual([]);
  });

  verifies(185, "is the only one: another skill's process does not get it", async () => {
    const provider = await startRecordingProvider(
      calls("bash", { command: "env | wc -l; env" }),
      says("Done."),
    );
    const world = createCanaryWorld(provider.url);
    world.write({
      "home/.metier/skills/other/SKILL.md": "---\nname: other\ndescription: Other.\n---\n\nDo.\n",
    });
    const metier = await world.metier();
    const result = await metier.run({ skill: "other", approve: "all" });
    expect(result.status).toBe("completed");
    expect(provider.requests.at(-1)?.body).not.toContain("SONG_KEY");
    expectNothingSent(provider);
  });
});

describeSandbox("the command line", () => {
  const COMMAND = 'echo "plain: $SONG_KEY"; printf %s "$SONG_KEY" | base64 -w0; exit 1';

  for (const flags of [[], ["--json"], ["--events"]]) {
    test(`prints and records nothing of it: run ${flags.join(" ")}`, async () => {
      const provider = await startRecordingProvider(
        calls("bash", { command: COMMAND }),
        says(...`It is ${SKILL_SECRET}.`),
      );
      const world = createCanaryWorld(provider.url);
      const recording = join(world.root, "recording.jsonl");
      const { stdout, stderr, code } = await world.cli(
        "run",
        "singer",
        "Sing.",
        "--approve",
        "--record",
        recording,
        ...flags,
      );
      expect(code).toBe(0);
      expect(stdout).toContain("SONG_KEY");
      expect(leaksIn(stdout + stderr)).toEqual([]);
      expectNothingSent(provider);
      expectNothingWritten(world);
    });
  }

  test("nor when the run fails, is only planned, or is looked at afterwards", async () => {
    const provider = await startRecordingProvider({
      status: 400,
      body: JSON.stringify({
        type: "error",
        error: { type: "bad", message: `no ${MODEL_KEY} ${SKILL_SECRET}` },
      }),
    });
    const world = createCanaryWorld(provider.url);
    const outputs: string[] = [];
    const runs = [
      ["run", "singer", `Sing ${SKILL_SECRET}`],
      ["run", "singer", "--dry-run"],
      ["run", "singer", "--dry-run", "--json"],
      ["runs", "list", "--json"],
      ["runs", "stats"],
      ["config", "--explain"],
      ["config", "--json"],
      ["show", "singer", "--json"],
      ["doctor"],
    ];
    for (const command of runs) {
      const { stdout, stderr } = await world.cli(...command);
      outputs.push(stdout, stderr);
    }
    const [run] = JSON.parse((await world.cli("runs", "list", "--json")).stdout).runs ?? [];
    outputs.push((await world.cli("runs", "show", run?.runId ?? "", "--json")).stdout);
    expect(outputs.flatMap((text) => leaksIn(text))).toEqual([]);
    expectNothingSent(provider);
    expectNothingWritten(world);
  });
});
