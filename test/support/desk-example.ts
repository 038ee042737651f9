/** The provider of `examples/desk` on temporary files: accounts with mail, its sign-in server, and a user who approves. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { addAccount } from "../../examples/desk/accounts.ts";
import { type ServerOptions, startServer } from "../../examples/desk/server.ts";
import { ROOT } from "./repository.ts";

export const DESK_SKILL: string = join(ROOT, "examples", "desk", "skills", "desk");
export const DESK_COMMAND: readonly string[] = [
  process.execPath,
  "--no-warnings",
  join(ROOT, "examples", "desk", "bridge.ts"),
];

export interface ExampleDesk {
  readonly root: string;
  /** Of the sign-in server. */
  readonly url: string;
  /** What the user does on the page that a sign-in leads to. Answers with the status. */
  decideOnPage(authUrl: string, account: string, decision?: "approve" | "deny"): Promise<number>;
}

/** Each account has one message, `1.<account>` with the subject `For <account>`. */
export async function openExampleDesk(
  root: string,
  accounts: readonly string[],
  options: Partial<ServerOptions> = {},
): Promise<ExampleDesk> {
  const passcodes = new Map(
    accounts.map((id) => [id, addAccount(root, { id, name: id, email: `${id}@example.org` })]),
  );
  for (const id of accounts) putMail(join(root, id), `1.${id}`, `For ${id}`);
  const server = await startServer({ root, port: 0, ...options });
  onTestFinished(() => server.close());
  return {
    root,
    url: server.url,
    async decideOnPage(authUrl, account, decision = "approve") {
      const { origin, pathname, searchParams } = new URL(authUrl);
      const user_code = searchParams.get("user_code") ?? "";
      const passcode = passcodes.get(account) ?? "";
      const body = new URLSearchParams({ user_code, account, passcode, decision });
      return (await fetch(`${origin}${pathname}`, { method: "POST", body })).status;
    },
  };
}

export function putMail(account: string, id: string, subject: string, text = "Hello."): void {
  const place = join(account, "mail", "new");
  mkdirSync(place, { recursive: true });
  const header = `From: Bob <bob@example.com>\r\nTo: anna@example.org\r\nSubject: ${subject}\r\n`;
  writeFileSync(join(place, id), `${header}\r\n${text}`);
}
