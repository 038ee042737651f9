/** The variable that lets a program with an environment of its own take compiled code from where the whole test run keeps it. */
const { NODE_COMPILE_CACHE: folder } = process.env;

export const COMPILED_CODE: Readonly<Record<string, string>> =
  folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
