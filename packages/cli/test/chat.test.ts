import { describe, expect, test } from "vitest";
import { startProvider } from "../../../test/support/aimock.ts";
import { calls, says } from "../../../test/support/chat.ts";
import { createWorld, skill } from "../../../test/support/world.ts";
import type { LineInput } from "../src/context.ts";
import { chatWorld, inTerminal } from "./chat-world.ts";

/** What a machine without a sandbox says beside everything else. */
function withoutSandboxWarning(text: string): string {
  return text.replace(
    /^ {2}warning {2}(?:No command can be run|Commands run in an INTERPRETED shell).*\n(?: {4}→.*\n)?/gm,
    "",
  );
}

describe("metier chat with a message", () => {
  test("prints the answer alone, and what happened beside it", async () => {
    const world = chatWorld([calls("list_files", {}), says("Nothing is \u001b[31mhere.")]);
    const { code, stdout, stderr } = await world.cli("chat", "What", "is", "here?");
    expect(code).toBe(0);
    expect(stdout).toBe("Nothing is \ufffd[31mhere.\n");
    expect(withoutSandboxWarning(stderr)).toBe("▸ list_files {}\n");
  });

  test("is one JSON value with --json", async () => {
    const world = chatWorld([says("Hello.", { lastUserText: { equals: "Hi." } })]);
    const { code, json, stderr } = await world.cli("chat", "Hi.", "--json");
    expect(code).toBe(0);
    expect(json).toMatchObject({
      skill: "chat",
      status: "completed",
      text: "Hello.",
      usage: { totalTokens: 15 },
    });
    expect(stderr).toBe("");
  });

  test("talks to a server over HTTP", async () => {
    const world = createWorld();
    const provider = await startProvider([{ match: {}, response: { content: "Over the wire." } }]);
    world.write({ "home/.metier/config.toml": provider.toml("openai-chat") });
    expect(await world.cli("chat", "Hi.")).toMatchObject({ code: 0, stdout: "Over the wire.\n" });
  });

  test("without a model exits 6 and says how to get one", async () => {
    const world = createWorld();
    const { code, stderr } = await world.cli("chat", "Hi.");
    expect(code).toBe(6);
    expect(stderr).toContain("No model is configured");
    expect(stderr).toContain("[models.default]");
    const { json } = await world.cli("chat", "Hi.", "--json");
    expect(json.error).toMatchObject({ code: "model.unavailable" });
  });

  test("asks nobody without a terminal, and everybody agrees with --approve", async () => {
    const write = [calls("write_file", { path: "x.txt", content: "x" }), says("Done.")];
    const { json } = await chatWorld(write).cli("chat", "Write.", "--json", "--write");
    expect(json.denied).toMatchObject([
      { tool: "write_file", reason: expect.stringContaining("nobody to ask") },
    ]);
    const world = chatWorld(write);
    expect((await world.cli("chat", "Write.", "--json", "--approve", "--write")).json.denied).toEqual([]);
  });

  test("ends with the code of what became of it", async () => {
    const world = chatWorld([calls("list_files", {}), calls("list_files", {})]);
    const unknown = await world.cli("chat", "/nothing");
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).toContain("neither a skill nor a command");
    const limited = await world.cli("chat", "List.", "--max-tokens", "10");
    expect(limited.code).toBe(4);
    expect(limited.stderr).toContain("used 15 of 10 tokens of this conversation");
    expect((await chatWorld([]).cli("chat", "Hi.")).code).toBe(5);
    expect((await world.cli("chat", "Hi.", "--max-tokens", "many")).code).toBe(2);
    expect((await world.cli("chat")).stderr).toContain("needs a terminal");
    expect((await world.cli("chat", "--json")).code).toBe(2);
    expect((await world.cli("chat", "/clear")).code).toBe(2);
  });

  test("knows who asks, in which chat", async () => {
    const script = [says("Dear diary.", { lastUserText: "Be discreet." })];
    const diary = { "home/.metier/skills/diary/SKILL.md": skill("diary", "sensitive: true", "Be discreet.") };
    const world = chatWorld(script);
    world.write(diary);
    expect((await world.cli("chat", "/diary")).stdout).toBe("Dear diary.\n");
    const group = await world.cli("chat", "/diary", "--chat-type", "group");
    expect(group.code).toBe(3);
    expect(group.stderr).toContain("only available in chats of type `private`");
  });

  test("lists what can be called by name", async () => {
    const world = chatWorld([]);
    world.write({ "home/.metier/commands/fix.md": "---\nargument-hint: <issue>\n---\nFix it." });
    const { stdout } = await world.cli("chat", "/skills");
    expect(stdout).toContain("/fix <issue>");
    expect(stdout).toContain("/summarize-text");
    const { json } = await world.cli("chat", "/skills", "--json");
    expect(json.offers).toContainEqual(expect.objectContaining({ name: "fix", kind: "command" }));
  });

  test("is cancelled by Ctrl-C", async () => {
    const world = chatWorld([calls("list_files", {})]);
    const { code, screen } = await inTerminal(world, { lines: [], interruptAt: "list_files" }, "List.");
    expect(code).toBe(130);
    expect(screen).toContain("Cancelled.");
  });
});

describe("metier chat in a terminal", () => {
  test("answers until the user leaves, streaming, with one line for each tool call", async () => {
    const world = chatWorld([
      { answer: { text: "Let me look.", toolCalls: [{ tool: "list_files", input: {} }] } },
      says("Empty."),
      says("Still empty."),
    ]);
    const { code, screen } = await inTerminal(world, { lines: ["Look.", "", "Again.", "/exit", "Never."] });
    expect(code).toBe(0);
    expect(withoutSandboxWarning(screen.slice(screen.indexOf("> ")))).toBe(
      "> Look.\nLet me look.\n▸ list_files {}\nEmpty.\n> \n> Again.\nStill empty.\n> /exit\n",
    );
  });

  test("asks before a tool acts, and shows all of what it would do", async () => {
    const write = calls("write_file", { path: "x.txt", content: "long ".repeat(200) });
    const world = chatWorld([write, says("Written.")]);
    const { screen } = await inTerminal(world, { lines: ["Write."], answers: ["y"] }, "--write");
    expect(screen).toContain("chat wants to call write_file");
    expect(screen).toContain(`  | +${"long ".repeat(200).trimEnd()}`);
    expect(screen).toContain("Written.");
  });

  test("Ctrl-C at a question cancels the answer", async () => {
    const world = chatWorld([calls("write_file", { path: "x.txt", content: "x" }), says("Fine.")]);
    const { screen } = await inTerminal(world, { lines: ["Write.", "Go on."] }, "--write");
    expect(screen).toContain("Cancelled.\n> Go on.\nFine.\n");
  });

  test("Ctrl-C cancels the answer, and the conversation goes on", async () => {
    const world = chatWorld([calls("list_files", {}), says("Fine.")]);
    const { code, screen } = await inTerminal(world, {
      lines: ["Look.", "Go on."],
      interruptAt: "list_files",
    });
    expect(screen).toContain("Cancelled.\n> Go on.\nFine.\n");
    expect(code).toBe(0);
  });

  test("a second Ctrl-C leaves", async () => {
    const world = chatWorld([calls("list_files", {})]);
    const terminal = { lines: ["Look.", "Go on."], interruptAt: "list_files", times: 2 };
    const { code, prompts } = await inTerminal(world, terminal);
    expect(code).toBe(130);
    expect(prompts).toBe(1);
  });

  test("Ctrl-C at the prompt leaves when it comes twice in a row, with nothing typed", async () => {
    const world = chatWorld([says("Hi.")]);
    const press = (text = ""): LineInput => ({ kind: "interrupt", text });
    const { code, prompts, screen } = await inTerminal(world, {
      lines: [press("half a line"), press(), "Hello.", press(), press("more"), press(), press(), "Never."],
    });
    expect(code).toBe(0);
    expect(prompts).toBe(7);
    expect(screen).toContain("Ctrl-C again");
  });

  test("/clear begins a new conversation, /help and /skills need no model", async () => {
    const world = chatWorld([says("Hello.", { lastUserText: { equals: "One." } })]);
    // A script begins anew with each conversation.
    const { screen } = await inTerminal(world, { lines: ["/help", "/skills", "One.", "/clear", "One."] });
    expect(screen).toContain("/clear             Start a new chat");
    expect(screen).toContain("/summarize-text");
    expect(screen).toContain("Started a new chat.\n> One.\nHello.\n");
  });

  test("asks what the model wants to know", async () => {
    const ask = {
      answer: { toolCalls: [{ tool: "ask_user", input: { question: "Which?", options: ["red", "blue"] } }] },
    };
    const world = chatWorld([ask, says("Blue.", { toolResult: { equals: "blue" } })]);
    const { screen } = await inTerminal(world, { lines: ["Paint."], answers: ["2"] });
    expect(screen).toContain("Which?\n  1. red\n  2. blue\n");
    expect(screen).toContain("Blue.\n");
  });

  test("says a warning once", async () => {
    const world = chatWorld([says("1"), says("2")], '[sandbox]\nbackend = "none"\n');
    const { screen } = await inTerminal(world, { lines: ["a", "b"] });
    expect(screen.match(/WITHOUT a sandbox/g)).toHaveLength(1);
  });
});

test("[U15] what cannot be done leaves the chat: `/compact` of nothing, a wrong id, a word too many", async () => {
  const world = chatWorld([says("Still here.")]);
  const lines = ["/compact", "/continue nope", "/clear all of it", "@. and @/etc/passwd and @.env", "/exit"];
  const { code, screen } = await inTerminal(world, { lines });
  expect(code).toBe(0);
  expect(screen).toContain("There is nothing to compact yet.");
  expect(screen).toContain("`nope` is not a chat id. `/continue` lists the saved chats.");
  expect(screen).toContain("`/clear` takes nothing after it.");
  expect(screen).toContain("`@.` was not added: it is a folder.");
  expect(screen).toContain("`@.env` was not added: files with this name hold secrets.");
  expect(screen).toContain("`@/etc/passwd` was not added: it is not in this folder.");
  expect(screen).toContain("Still here.");
});
