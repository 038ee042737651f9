/** A desk on temporary files: accounts with mail and events, its authorization server, and a user who approves. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from "../../src/desk/authorization/authorization-server.ts";
import { addAccount } from "../../src/desk/desk-accounts.ts";
import type { Desk } from "../../src/desk/desk-operation.ts";
import { temporaryFolder } from "./temporary.ts";

export const PASSCODE = "correct horse";

/** An account as a user of the desk has it. */
export function makeAccount(root: string, id: string): string {
  addAccount(
    root,
    { id, name: `${id[0]?.toUpperCase()}${id.slice(1)}`, email: `${id}@example.org` },
    PASSCODE,
  );
  return join(root, id);
}

/** Puts a message into a folder of a maildir; `new` unless it has flags. Answers with its id. */
export function putMail(
  account: string,
  id: string,
  content: string | Buffer,
  flags?: string,
  folder = "",
): string {
  const place = join(account, "mail", folder && `.${folder}`, flags === undefined ? "new" : "cur");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, flags === undefined ? id : `${id}:2,${flags}`), content);
  return id;
}

/** A plain message. */
export function mail(subject: string, text = "Hello.", more: Readonly<Record<string, string>> = {}): string {
  const fields = {
    From: "Bob <bob@example.com>",
    To: "anna@example.org",
    Subject: subject,
    Date: "Tue, 3 Mar 2026 10:00:00 +0100",
    ...more,
  };
  const header = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${header.join("")}\r\n${text}`;
}

/** For one call on the files of an account, at noon of 3 March 2026. */
export function openDesk(folder: string, more: Partial<Desk> = {}): Desk {
  return {
    folder,
    account: { name: "Anna", email: "anna@example.org" },
    timezone: "Europe/Berlin",
    signal: new AbortController().signal,
    now: new Date("2026-03-03T11:00:00Z"),
    ...more,
  };
}

/** Anna's, in a folder of its own; nobody can sign in. */
export function createDesk(more: Partial<Desk> = {}): Desk {
  const folder = temporaryFolder();
  for (const part of ["mail/cur", "mail/new", "mail/tmp", "calendar"])
    mkdirSync(join(folder, part), { recursive: true });
  return openDesk(folder, more);
}

/** On a free port, until the test ends. */
export async function serveDesk(
  root: string,
  options: Partial<AuthorizationServerOptions> = {},
): Promise<AuthorizationServer> {
  const server = await startAuthorizationServer({ root, port: 0, pollSeconds: 1, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** What the user does on the page that the sign-in leads to. */
export async function decideOnPage(
  authUrl: string,
  account: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly page: string }> {
  const url = new URL(authUrl);
  const form = new URLSearchParams({
    user_code: url.searchParams.get("user_code") ?? "",
    account,
    passcode: PASSCODE,
    decision: "approve",
    ...fields,
  });
  const answer = await fetch(new URL(url.pathname, url), { method: "POST", body: form });
  return { status: answer.status, page: await answer.text() };
}
