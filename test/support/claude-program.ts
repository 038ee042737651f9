/**
 * A stand-in for the `claude` program that speaks its protocol (`--output-format stream-json`, as version 2.1.325 does), and
 * keeps what it was started with beside itself.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface ClaudeStart {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly files: readonly string[];
  readonly system: string;
  readonly message: string;
}

export interface TestClaude {
  readonly path: string;
  starts(): readonly ClaudeStart[];
}

/** `CALL` in a text stands for the mark of a call that the prompt names. */
export interface ClaudeBehaviour {
  readonly texts?: readonly string[];
  readonly tools?: readonly string[];
  readonly usesTool?: true;
  readonly error?: string;
  readonly silent?: true;
}

export function installClaude(folder: string, behaviour: ClaudeBehaviour = {}): TestClaude {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "claude");
  const log = join(folder, "claude-starts.jsonl");
  writeFileSync(path, `#!${process.execPath}\n(${program})(${JSON.stringify({ ...behaviour, log })});\n`);
  chmodSync(path, 0o755);
  const starts = (): readonly ClaudeStart[] =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as ClaudeStart)
      : [];
  return { path, starts };
}

const program = `async ({ texts = ["Hello from claude."], tools = [], usesTool, error, silent, log }) => {
  const fs = require("node:fs");
  const args = process.argv.slice(2);
  const system = fs.readFileSync(args[args.indexOf("--system-prompt-file") + 1], "utf8");
  const { message } = JSON.parse(fs.readFileSync(0, "utf8"));
  const start = { args, env: process.env, cwd: process.cwd(), files: fs.readdirSync("."), system, message: message.content[0].text };
  fs.appendFileSync(log, JSON.stringify(start) + "\\n");
  const count = fs.readFileSync(log, "utf8").trim().split("\\n").length;
  const say = (line) => console.log(JSON.stringify({ session_id: "s", ...line }));
  if (silent) { console.error("Invalid API key. Please run /login"); process.exit(1); }
  say({ type: "system", subtype: "init", tools, mcp_servers: [], model: "claude-sonnet-5-5" });
  say({ type: "system", subtype: "status", status: "requesting" });
  if (error) { say({ type: "result", subtype: "success", is_error: true, result: error }); process.exit(1); }
  const event = (event) => say({ type: "stream_event", event, parent_tool_use_id: null });
  if (usesTool) event({ type: "content_block_start", index: 0, content_block: { type: "tool_use", name: "Bash" } });
  const [, mark = ""] = /<(call-[0-9a-f]+)>/.exec(system) ?? [];
  const text = texts[Math.min(count, texts.length) - 1].replaceAll("CALL", mark);
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  for (const piece of text.match(/[^]{1,4}/gu) ?? []) event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } });
  say({ type: "assistant", message: { content: [{ type: "text", text }] } });
  say({ type: "result", subtype: "success", is_error: false, result: text, stop_reason: "end_turn", usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 4 } });
}`;
