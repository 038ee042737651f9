/** A desk on temporary files, its sign-in server, and the bridge as Metier starts it. */
import { spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { addAccount } from "../accounts.ts";
import type { Call, JsonObject, Operation } from "../operation.ts";
import { type ServerOptions, type SignInServer, startServer } from "../server.ts";

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "desk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A call on the files of Anna's account. */
export function makeCall(more: Partial<Call> = {}): Call {
  const account = { id: "anna", name: "Anna", email: "anna@example.org" };
  return { account, folder: temporaryFolder(), timezone: "Europe/Berlin", key: "k1", ...more };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into the answers freely
export type Loose = any;

export async function perform(
  operations: ReadonlyMap<string, Operation>,
  name: string,
  input: JsonObject,
  call: Call,
): Promise<Loose> {
  return operations.get(name)?.perform(input as never, call);
}

/** Puts a message into a folder of the maildir: as new, unless it has flags. */
export function putMail(account: string, id: string, content: string, flags?: string, folder = ""): void {
  const place = join(account, "mail", folder && `.${folder}`, flags === undefined ? "new" : "cur");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, flags === undefined ? id : `${id}:2,${flags}`), content);
}

export function makeMail(subject: string, body = "Hello.", more = ""): string {
  const date = "Date: Tue, 3 Mar 2026 10:00:00 +0100\r\n";
  return `From: Bob <bob@example.com>\r\nTo: anna@example.org\r\nSubject: ${subject}\r\n${date}${more}\r\n${body}`;
}

export interface DeskWorld {
  readonly root: string;
  readonly passcode: string;
  readonly server: SignInServer;
  /** One process, one request; answers with the envelope. */
  ask(method: string, params?: JsonObject, token?: string): Promise<Loose>;
  /** What the user does on the page. */
  decide(authUrl: string, fields?: Readonly<Record<string, string>>): Promise<number>;
  /** As Metier makes it for this bridge. */
  mint(claims?: JsonObject, header?: JsonObject, key?: Buffer): string;
}

/** With an account for Anna. */
export async function openDesk(options: Partial<ServerOptions> = {}): Promise<DeskWorld> {
  const root = temporaryFolder();
  const passcode = addAccount(root, { id: "anna", name: "Anna", email: "anna@example.org" });
  const server = await startServer({ root, port: 0, ...options });
  onTestFinished(() => server.close());
  const secret = randomBytes(32);
  const mint: DeskWorld["mint"] = (claims = {}, header = {}, key = secret) => {
    const now = Math.floor(Date.now() / 1000);
    const parts = [
      { alg: "HS256", typ: "ASH_CONTEXT", ver: 1, ...header },
      { sub: "alice", aud: "desk", jti: "1", iat: now, exp: now + 60, ...claims },
    ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
    return [...parts, createHmac("sha256", key).update(parts.join(".")).digest("base64url")].join(".");
  };
  return {
    root,
    passcode,
    server,
    mint,
    async ask(method, params = {}, token = mint()) {
      const env = {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DESK_ROOT: root,
        DESK_SERVER: server.url,
        METIER_CONTEXT_TOKEN_SECRET: secret.toString("base64url"),
      };
      const request = {
        version: 1,
        id: "r1",
        namespace: "desk",
        method,
        params: { capability_id: "desk.mail", context_token: token, ...params },
      };
      return JSON.parse(await runBridge(`${JSON.stringify(request)}\n`, env));
    },
    async decide(authUrl, fields = {}) {
      const { origin, pathname, searchParams } = new URL(authUrl);
      const form = { user_code: searchParams.get("user_code") ?? "", account: "anna", passcode };
      const body = new URLSearchParams({ ...form, decision: "approve", ...fields });
      return (await fetch(origin + pathname, { method: "POST", body })).status;
    },
  };
}

async function runBridge(input: string, env: NodeJS.ProcessEnv): Promise<string> {
  const bridge = spawn(process.execPath, ["--no-warnings", join(import.meta.dirname, "..", "bridge.ts")], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  bridge.stdin.end(input);
  return text(bridge.stdout);
}
