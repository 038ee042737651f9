/** Who asks, for skills that are kept to some chats: on the command line the user of the machine, in private. */
import { userInfo } from "node:os";
import type { Caller } from "../invoke/invocation.ts";

export interface CallerFlags {
  readonly user?: string;
  readonly chatType?: string;
  readonly chatId?: string;
}

const flag = (placeholder: string, brief: string): object => ({
  kind: "parsed",
  parse: String,
  optional: true,
  placeholder,
  brief,
});

export const CALLER_FLAGS: Readonly<Record<string, object>> = {
  user: flag("id", "Who asks (default: the user of the machine)"),
  chatType: flag("type", "In what kind of chat (default: private)"),
  chatId: flag("id", "In which chat (default: cli)"),
};

export function readCaller({ user, chatType, chatId }: CallerFlags): Caller {
  const who = user === undefined ? { userId: userName(), isLocal: true } : { userId: user };
  return { ...who, chatType: chatType ?? "private", chatId: chatId ?? "cli" };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown"); // A user id without a name, as in some containers.
  }
}
