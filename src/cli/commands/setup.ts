import { type DeclaredCommand, defineCommand, manyArguments, switchFlag } from "./define.ts";

export const setup: DeclaredCommand = defineCommand({
  name: "setup",
  group: "Managing",
  brief: "Show what skills need installed, and install it",
  description:
    "Debian packages that usable skills name (`packages`), and the Python and Node packages that they lock\n(`requirements.txt`, `package-lock.json`): what is there, what is missing, what is left out and why. With --install,\nlocked packages of trusted skills are installed in the sandbox, and missing Debian packages by apt, after you typed\n`install` in a terminal. Then it exits 3 when something is left out or not confirmed, 5 when an installation failed, 6 when\npackages are missing and this system has no apt.",
  examples: ["metier setup", "metier setup pdf", "metier setup --install", "metier setup --json"],
  flags: {
    install: switchFlag(
      "Install; for Debian packages you are asked to type a word, and no option answers it",
    ),
  },
  positional: manyArguments("skill", "Only for these skills: name or scope:name"),
  action: "setup",
});
