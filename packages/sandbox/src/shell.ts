/** The door `@metier/sandbox/shell` for other packages. */
export {
  type CommandScope,
  mayMatchCommand,
  readAllowingScope,
  readCommandScope,
  whyNotCovered,
} from "./shell/command-scope.ts";
export { type CommandWords, readCommand } from "./shell/read-command.ts";
