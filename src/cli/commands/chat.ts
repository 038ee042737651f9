import { CALLER_FLAGS } from "../caller-flags.ts";
import { type DeclaredCommand, defineCommand, manyArguments, switchFlag, textFlag } from "./define.ts";

export const chat: DeclaredCommand = defineCommand({
  name: "chat",
  group: "Doing",
  brief: "Talk with a model that may use every skill, once or in a terminal",
  description:
    "The model is told of the usable skills and may use them; `/name arguments` calls a skill or a custom command\n(.claude/commands, .metier/commands) yourself. With a message: one answer, to standard output. Without one: a\nconversation in the terminal, where `/help` says the rest. Exits 3 when a skill is refused, 4 when a limit stopped the\nanswer, 5 when it failed, 6 when there is no model, 130 when it was cancelled.",
  examples: [
    "metier chat",
    'metier chat "What do my notes say about tides?"',
    'metier chat "/summarize-text README.md" --json',
    "metier chat --model fast --max-tokens 200000 --write",
  ],
  flags: {
    model: textFlag("name", "An alias of your config, or provider/model"),
    approve: switchFlag("Answer yes to every question about tools; never beats a deny, never grants trust"),
    maxTokens: textFlag("number", "How many tokens the whole conversation may use, with the skills it runs"),
    write: switchFlag("Let the working directory be changed"),
    ...CALLER_FLAGS,
  },
  positional: manyArguments("message", "What to say; without it, a conversation begins"),
  action: "chat",
});
