import { CALLER_FLAGS } from "../caller-flags.ts";
import { type DeclaredCommand, defineCommand, manyArguments, switchFlag, textFlag } from "./define.ts";

export const capability: DeclaredCommand = defineCommand({
  name: "capability",
  group: "Connecting",
  brief: "List and use what providers do in sensitive systems, and link accounts",
  description:
    "A provider (`[capabilities.providers]` in the config) acts in a system such as mail for you; its credentials never\nenter a run. `list` (the default) shows what there is for you, `providers` where it comes from, `invoke` performs one\noperation. `auth begin` starts a sign-in, `auth complete` and `auth poll` finish it, `auth list` shows those that are\nunder way, `auth unlink` forgets an account. An operation that changes something is shown and asked about in the\nterminal; no option answers that. Exits 1 when there is no such thing, 2 when the request does not fit, 3 when it is\nrefused, 4 when it was too often, 5 when the provider failed.",
  examples: [
    "metier capability",
    "metier capability providers --json",
    "metier capability auth begin gog.email --account work",
    "metier capability auth poll caf_0123456789abcdef01234567 --wait",
    "metier capability invoke gog.email list_messages --input '{\"limit\": 5}'",
    "metier capability auth unlink gog.email --account work",
  ],
  flags: {
    all: switchFlag("Also what is not for this chat (list)"),
    capability: textFlag("id", "Which capability (invoke, auth)"),
    operation: textFlag("name", "Which operation (invoke)"),
    input: textFlag("json", "Input of the operation: JSON, @file, or - for standard input (invoke)"),
    account: textFlag("account", "Which account: its reference, name or email (invoke, auth)"),
    idempotencyKey: textFlag("key", "Two calls with the same key have one effect (invoke)"),
    code: textFlag("code", "The code of the sign-in, or - for standard input (auth complete)"),
    callbackUrl: textFlag("url", "The address that the browser was sent to (auth complete)"),
    listen: switchFlag("Wait here for the browser to come back (auth begin)"),
    wait: switchFlag("Until the sign-in is complete or has expired (auth poll)"),
    ...CALLER_FLAGS,
  },
  aliases: { c: "capability", o: "operation" },
  positional: manyArguments(
    "action",
    "list, providers, invoke ID OPERATION, auth begin ID, auth list, auth complete FLOW, auth poll FLOW or auth unlink ID",
  ),
  action: "capability",
});
