/** What other packages may use of `@metier/sandbox/shell`. */
export {
  type CommandScope,
  mayMatchCommand,
  readAllowingScope,
  readCommandScope,
  whyNotCovered,
} from "./shell/command-scope.ts";
export { type CommandWords, readCommand } from "./shell/read-command.ts";
