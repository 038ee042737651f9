/** Commands that connect skills with other programs and systems. */
import {
  CALLER_FLAGS,
  type DeclaredCommand,
  defineCommand,
  type FlagsOf,
  listFlag,
  manyArguments,
  switchFlag,
  textFlag,
} from "./define.ts";

const capability = defineCommand({
  name: "capability",
  brief: "Use capabilities that act in other systems, and link accounts",
  description:
    "A provider (`[capabilities.providers]` in the config) acts for you in a system such as mail. Its credentials never enter a run. Before an operation changes something, Metier shows it and asks in the terminal; no option skips that question.\n\nExits 1 when the capability doesn't exist, 2 when the request is invalid, 3 when it is refused, 4 when a rate limit stopped it, 5 when the provider failed.",
  actions: {
    list: "List the capabilities you can use (the default)",
    providers: "List the providers and where they come from",
    "invoke <capability> <operation>": "Perform one operation",
    "auth begin <capability>": "Start a sign-in",
    "auth complete <flow>": "Finish a sign-in with `--code` or `--callback-url`",
    "auth poll <flow>": "Check whether a sign-in is complete",
    "auth list": "List sign-ins in progress",
    "auth unlink <capability>": "Remove a linked account",
  },
  examples: [
    "metier capability",
    "metier capability providers --json",
    "metier capability auth begin gog.email --account work",
    "metier capability auth poll caf_0123456789abcdef01234567 --wait",
    "metier capability invoke gog.email list_messages --input '{\"limit\": 5}'",
    "metier capability auth unlink gog.email --account work",
  ],
  flags: {
    all: switchFlag("Also list capabilities that this chat can't use (list)"),
    capability: textFlag("id", "Capability id (invoke, auth)"),
    operation: textFlag("name", "Operation name (invoke)"),
    input: textFlag("json", "Operation input: JSON, @file, or - for stdin (invoke)"),
    account: textFlag("account", "Account reference, name or email (invoke, auth)"),
    idempotencyKey: textFlag("key", "Calls with the same key take effect once (invoke)"),
    code: textFlag("code", "Sign-in code, or - for stdin (auth complete)"),
    callbackUrl: textFlag("url", "Address the browser was sent to (auth complete)"),
    listen: switchFlag("Wait for the browser to come back (auth begin)"),
    wait: switchFlag("Wait until the sign-in completes or expires (auth poll)"),
    ...CALLER_FLAGS,
  },
  aliases: { c: "capability", o: "operation" },
  positional: manyArguments("action", "What to do"),
  from: () => import("../actions/capability.ts"),
  action: "capabilityAction",
});
export type CapabilityFlags = FlagsOf<typeof capability>;

const SKILLS = manyArguments("skill", "Skill name, skill folder or folder of skills");

const publish = defineCommand({
  name: "publish",
  brief: "Write skills and their index for a website",
  description:
    "Writes skills to `<dir>/.well-known/agent-skills` with the index that clients look for (Agent Skills Discovery 0.2.0). Archives have the same bytes on every machine. Validates each skill strictly and scans it first; a skill that is invalid, blocked or holds a secret stops everything. Leaves out editor and version control files, `evals`, and files named like secrets, and lists them. Doesn't touch files that it didn't write.\n\nExits 1 when a skill can't be published.",
  examples: [
    "metier publish --well-known site skills/",
    "metier publish --well-known site pdf report --base-url https://example.com",
    "metier publish --well-known site skills/ --dry-run",
  ],
  flags: {
    wellKnown: textFlag("dir", "Root folder of the site (required)"),
    baseUrl: textFlag("url", "Where the site is served, to write absolute addresses (default: relative)"),
    force: switchFlag("Also replace files that this command didn't write"),
    dryRun: switchFlag("Check everything, write nothing"),
  },
  positional: SKILLS,
  from: () => import("../actions/publish.ts"),
  action: "publishAction",
});
export type PublishFlags = FlagsOf<typeof publish>;

const pack = defineCommand({
  name: "pack",
  brief: "Pack skills as a plugin",
  description:
    "Writes an Agent Plugins 1.0.0 plugin: `plugin.json`, `skills/` and, if you pass one, `mcp.json`. The output is a folder, or an archive if its name ends in `.tar.gz` or `.tgz`. A plugin with one skill takes its name, description, version and license from that skill. Checks skills the same way `metier publish` does.",
  examples: [
    "metier pack skills/ --name team-tools --version 1.2.0 -o team-tools.tar.gz",
    "metier pack skills/ --manifest plugin.json --mcp mcp.json -o build/team-tools",
    "metier pack pdf -o pdf-plugin",
  ],
  flags: {
    output: textFlag("path", "Output folder, or a file ending in `.tar.gz` or `.tgz` (required)"),
    manifest: textFlag("file", "A `plugin.json` to start from; the options below override its fields"),
    mcp: textFlag("file", "A file with `mcpServers`, for the plugin's `mcp.json`"),
    name: textFlag("name", "Plugin name: a–z, 0–9, single hyphens and dots, up to 64 characters"),
    version: textFlag("version", "Plugin version"),
    description: textFlag("text", "What the plugin is for"),
    author: textFlag("author", "`Name <mail> (address)`"),
    homepage: textFlag("url", "Documentation address"),
    repository: textFlag("url", "Source repository address"),
    license: textFlag("license", "An SPDX identifier"),
    keyword: listFlag("word", "A word to find it by (repeatable)", ","),
    force: switchFlag("Replace a plugin in the output folder"),
  },
  aliases: { o: "output" },
  positional: SKILLS,
  from: () => import("../actions/publish.ts"),
  action: "packAction",
});
export type PackFlags = FlagsOf<typeof pack>;

const remote = defineCommand({
  name: "remote",
  brief: "List, refresh and approve skills from MCP servers",
  description:
    "MCP servers (`[mcp.servers.<label>]` in your config) offer skills as `label:name`. Metier fetches and verifies files when a skill is used. Until you approve a skill, a model can read and follow its text, but nothing from it is executed. A change to any file ends the approval.\n\nExits 1 when the skill doesn't exist, 5 when a server failed.",
  actions: {
    list: "List known skills without contacting servers (the default)",
    "refresh [<label>...]": "Ask the servers for their skills",
    "add <label> <uri>": "Add a skill that the server's list leaves out",
    "approve <skill>...": "Trust a skill as its server declares it now",
    "forget <skill-or-label>...": "Withdraw approvals and delete fetched files",
  },
  examples: [
    "metier remote",
    "metier remote refresh",
    "metier remote refresh docs --json",
    "metier remote add docs skill://acme/refunds/SKILL.md",
    "metier remote approve docs:refunds",
    "metier remote forget docs",
  ],
  positional: manyArguments("action", "What to do"),
  from: () => import("../actions/remote.ts"),
  action: "remoteAction",
});

const mcp = defineCommand({
  name: "mcp",
  brief: "Serve skills to other programs over the Model Context Protocol",
  description:
    "Talks to the client that started it over stdin and stdout. With `--http`, serves streamable HTTP at `/mcp` until you stop it. Clients with the Skills extension list and read skills through it. All other clients get the tools `use_skill`, `find_skills`, `list_skills` and `read_skill_file`, and a prompt for each skill that users may call.\n\nSkills that need a run are refused unless you pass `--run`. Nobody can be asked during such a run, so tools that your config doesn't allow are denied. To serve sensitive skills and skills for certain chats, say who asks with `--user`, `--chat-type` and `--chat-id`.\n\nIf METIER_MCP_TOKEN is set, HTTP clients must send it as `Authorization: Bearer …`. Set it to listen on anything but loopback.",
  examples: [
    "metier mcp",
    "metier mcp --print-config claude",
    "metier mcp --http --port 8080",
    "METIER_MCP_TOKEN=… metier mcp --http --host 0.0.0.0 --port 8080 --allow-host skills.example.org",
    "metier mcp --run --model fast",
  ],
  flags: {
    http: switchFlag("Serve over HTTP instead of stdin and stdout"),
    port: textFlag("number", "Port to listen on (default: a free port)"),
    host: textFlag("address", "Address to listen on (default: 127.0.0.1)"),
    allowHost: listFlag("name", "Another host name that clients use for this server (repeatable)"),
    run: switchFlag("Run skills that need a run, instead of refusing them"),
    model: textFlag("name", "Model for runs: an alias from your config, or provider/model"),
    user: textFlag("id", "Who is asking (default: nobody in particular)"),
    chatType: textFlag("type", "The kind of chat, such as private (default: none)"),
    chatId: textFlag("id", "The chat (default: none)"),
    printConfig: textFlag(
      "client",
      "Print the config for a client: claude, codex, gemini, opencode, qwen or vscode",
    ),
  },
  from: () => import("../actions/mcp.ts"),
  action: "mcpAction",
});
export type McpFlags = FlagsOf<typeof mcp>;

/** Where many processes share their runs; the same options for all of them. */
const SHARED_FLAGS = {
  database: textFlag(
    "url",
    "Postgres database to share (default: METIER_DATABASE_URL, or files under the home)",
  ),
  objectStore: textFlag(
    "url",
    "Object store to share, `s3://…` or `file:///…` (default: METIER_OBJECT_STORE)",
  ),
} as const;

const WORK_FLAGS = {
  lease: textFlag("seconds", "How long a worker may be silent before its runs are taken over (default: 10)"),
  answerWithin: textFlag("seconds", "How long approvals and questions wait for an answer (default: forever)"),
  snapshots: textFlag("gib", "Limit for work folder snapshots per tenant, in GiB (default: 20)"),
  log: switchFlag("Write a log to stderr, one JSON object per line"),
} as const;

const serve = defineCommand({
  name: "serve",
  brief: "Run skills for others over HTTP",
  description:
    "Starts the HTTP API and a worker in one process. Runs are durable: they survive a restart, and an approval can wait for days. All state is in `~/.metier/state/service`, which belongs to one process at a time. With `--database` and `--object-store`, any number of `metier serve` and `metier worker` processes share their state. They all need the same METIER_MASTER_KEY. If METIER_DATABASE_ADMIN_URL is set, the database is migrated at the start. Runs see no working directory and always run in bubblewrap.\n\nThe first start creates an admin key and prints it once. If METIER_ADMIN_KEY is set (24 characters or more), that key is used instead while no other admin key exists. METIER_MASTER_KEY encrypts secrets and work folders; without it, Metier creates a key file. `--rotate-key` adds a new key to that file; older keys still open what they encrypted.\n\nExits 6 when there is no sandbox, when another process already uses the home folder, or when the database can't be used.",
  examples: [
    "metier serve",
    "metier serve --port 8080",
    "METIER_ADMIN_KEY=… metier serve --host 0.0.0.0 --port 8080",
    "metier serve --port 8080 --lease 30 --log",
    "metier serve --rotate-key",
    "metier serve --port 8080 --database postgres://metier@db/metier --object-store 's3://runs?endpoint=https://s3.example.com'",
    "metier serve --database postgres://metier@db/metier --object-store file:///srv/runs --import",
  ],
  flags: {
    port: textFlag("number", "Port to listen on (default: a free port)"),
    host: textFlag("address", "Address to listen on (default: 127.0.0.1)"),
    slots: textFlag("number", "How many runs advance at the same time (default: 8; 0: only answer requests)"),
    ...SHARED_FLAGS,
    ...WORK_FLAGS,
    import: switchFlag("Move all runs and records of this home to the database first (with `--database`)"),
    migrate: switchFlag("Migrate the database with METIER_DATABASE_ADMIN_URL, then exit"),
    rotateKey: switchFlag("Create a new master key for everything written afterwards, then exit"),
  },
  from: () => import("../actions/serve.ts"),
  action: "serveAction",
});
export type ServeFlags = FlagsOf<typeof serve>;

const worker = defineCommand({
  name: "worker",
  brief: "Advance runs of services that share a database",
  description:
    "Advances runs that `metier serve` processes on the same database have started. Start as many workers as you need, on any number of machines. Each has its own home folder and gets skills and work folders from the object store. When a worker stops answering, others take over its runs after the lease.\n\nWhen told to end, a worker takes no more runs, gives back its current ones at their next step, and exits. It answers `/livez`, `/readyz` and `/metrics` on its port.\n\nExits 6 when there is no sandbox or when the database or object store can't be used.",
  examples: [
    "metier worker --database postgres://metier@db/metier --object-store 's3://runs?endpoint=https://s3.example.com'",
    "metier worker --slots 16 --port 9464 --log",
  ],
  flags: {
    port: textFlag("number", "Port for probes and metrics (default: a free port)"),
    host: textFlag("address", "Address for probes and metrics (default: 127.0.0.1)"),
    slots: textFlag("number", "How many runs advance at the same time (default: 8)"),
    ...SHARED_FLAGS,
    ...WORK_FLAGS,
  },
  from: () => import("../actions/worker.ts"),
  action: "workerAction",
});
export type WorkerFlags = FlagsOf<typeof worker>;

/** In overview order. */
export const CONNECTING: readonly DeclaredCommand[] = [capability, publish, pack, remote, mcp, serve, worker];
