import { type DeclaredCommand, defineCommand, switchFlag, textFlag } from "./define.ts";

export const mcp: DeclaredCommand = defineCommand({
  name: "mcp",
  group: "Connecting",
  brief: "Serve skills to other programs by the Model Context Protocol",
  description:
    "Speaks with the client that started it over standard input and output; with `--http`, serves streamable HTTP at `/mcp`\nuntil it is ended. Clients that know the Skills extension list and read skills by it; all others have the tools\n`use_skill`, `find_skills`, `list_skills` and `read_skill_file`, and a prompt for each skill that users may call.\nA skill that needs a run is refused unless `--run` is given; nobody can be asked then, so tools your config does not\nallow are denied. Skills for some chats only, and sensitive ones, are served when the options say who asks.\nOver HTTP, clients send `Authorization: Bearer …` with the value of METIER_MCP_TOKEN where it is set; it must be set to\nlisten on anything but loopback.",
  examples: [
    "metier mcp",
    "metier mcp --print-config claude",
    "metier mcp --http --port 8080",
    "METIER_MCP_TOKEN=… metier mcp --http --host 0.0.0.0 --port 8080 --allow-host skills.example.org",
    "metier mcp --run --model fast",
  ],
  flags: {
    http: switchFlag("Serve over HTTP instead of standard input and output"),
    port: textFlag("number", "Where to listen (default: a free port)"),
    host: textFlag("address", "On which address to listen (default: 127.0.0.1)"),
    allowHost: {
      kind: "parsed",
      parse: String,
      optional: true,
      variadic: true,
      placeholder: "name",
      brief: "A further name by which clients call this server (repeatable)",
    },
    run: switchFlag("Run skills that need a run of their own, instead of refusing them"),
    model: textFlag("name", "For runs: an alias of your config, or provider/model"),
    user: textFlag("id", "Who asks (default: nobody in particular)"),
    chatType: textFlag("type", "In what kind of chat, such as private (default: none)"),
    chatId: textFlag("id", "In which chat (default: none)"),
    printConfig: textFlag(
      "client",
      "Print what a client's config needs: claude, codex, gemini, opencode, qwen or vscode",
    ),
  },
  action: "mcp",
});
