/** A small provider that speaks `bridge-v1`, as a program of its own: a pad of notes, with and without a sign-in. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeTree } from "./temporary.ts";
import { createWorld, type World } from "./world.ts";

export interface NotesBridge {
  readonly command: readonly string[];
  /** `[capabilities.providers.notes]` for a config file. */
  readonly config: string;
  /** What it was asked, oldest first: `invoke add {"text":"x"}`. */
  asked(): readonly string[];
}

/** Where no keychain is found, so that a test leaves the user's alone. */
export const QUIET_PATH: string = dirname(process.execPath);

export interface NotesWorld extends World {
  readonly bridge: NotesBridge;
}

/** A home whose config names the provider `notes`, and `more`. */
export function createNotesWorld(more = ""): NotesWorld {
  const world = createWorld({ environment: { PATH: QUIET_PATH } });
  const bridge = writeNotesBridge(join(world.root, "bridge folder"));
  world.write({ "home/.metier/config.toml": `${bridge.config}${more}` });
  return { ...world, bridge };
}

export function writeNotesBridge(folder: string): NotesBridge {
  writeTree(folder, { "bridge.mjs": PROGRAM, "asked.log": "" });
  const command = [process.execPath, join(folder, "bridge.mjs")];
  return {
    command,
    config: `[capabilities.providers.notes]\ncommand = ${JSON.stringify(command)}\n`,
    asked: () => readFileSync(join(folder, "asked.log"), "utf8").split("\n").filter(Boolean),
  };
}

const PROGRAM = `
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

const log = join(import.meta.dirname, "asked.log");
const { version, id, namespace, method, params } = JSON.parse(readFileSync(0, "utf8"));
const note = (text) => appendFileSync(log, method + text + "\\n");
const answer = (result) => process.stdout.write(JSON.stringify({ version, id, result }));
const fail = (code, message) => process.stdout.write(JSON.stringify({ version, id, error: { code, message } }));
const timesAsked = (line) => readFileSync(log, "utf8").split("\\n").filter((one) => one === line).length;

const operation = (name, more = {}) => ({ name, description: "Does " + name + ".", requires_auth: false, ...more });
const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"], additionalProperties: false };

const methods = {
  definitions: () =>
    answer({
      definitions: [
        {
          id: namespace + ".pad",
          description: "A pad of notes.",
          operations: [
            operation("list"),
            operation("add", { mutating: true, input_schema: text }),
            operation("echo", { input_schema: text }),
            operation("fail"),
          ],
        },
        {
          id: namespace + ".diary",
          description: "Notes behind a sign-in.",
          sensitive: true,
          operations: [operation("read", { requires_auth: true })],
        },
        {
          id: namespace + ".web",
          description: "Notes behind a sign-in in a browser.",
          operations: [operation("read", { requires_auth: true })],
        },
      ],
    }),
  invoke: () => {
    note(" " + params.operation + " " + JSON.stringify(params.input_data));
    if (params.operation === "fail") fail("notes_lost", "The pad is lost.");
    else answer({ output: { did: params.operation, input: params.input_data, account: params.account_ref ?? null } });
  },
  auth_begin: () => {
    note(" " + params.capability_id);
    const flow_state = { redirect: params.redirect_uri ?? "" };
    if (params.capability_id.endsWith(".diary")) {
      const device = { flow_type: "device_code", user_code: "ABCD-EFGH", poll_interval_seconds: 1 };
      answer({ auth_url: "https://notes.example/device", flow_state, ...device });
    } else {
      const to = params.redirect_uri === undefined ? "" : "&redirect_uri=" + encodeURIComponent(params.redirect_uri);
      answer({ auth_url: "https://notes.example/sign-in?state=s1" + to, flow_state, expected_callback_state: "s1" });
    }
  },
  auth_poll: () => {
    note("");
    if (timesAsked("auth_poll") < 2) answer({ status: "pending", retry_after_seconds: 1 });
    else answer({ status: "complete", account_ref: "acc-1", metadata: { account_name: "Diary", account_email: "d@notes.example" } });
  },
  auth_complete: () => {
    note(" " + params.authorization_code);
    if (params.authorization_code !== "good") fail("capability_auth_flow_denied", "The code is not valid.");
    else answer({ account_ref: "acc-2", metadata: { account_name: "Web" } });
  },
};

methods[method]();
`;
