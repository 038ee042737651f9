/**
 * Gets Node's own modules with `process.getBuiltinModule` instead of importing them. Importing `node:fs` or
 * `node:util` reads all their exports and so loads streams and more that nobody needs: about 2 ms each at every start.
 */
import { isBuiltin } from "node:module";

/** Modules that take milliseconds to load; their functions load them when called. */
const HEAVY = new Set([
  "node:child_process",
  "node:crypto",
  "node:dns/promises",
  "node:http",
  "node:https",
  "node:net",
  "node:timers/promises",
  "node:zlib",
]);

/** What is read or constructed instead of called, such as `constants`, is loaded at the start. */
const NOT_CALLED = /^(?:constants|[A-Z].*)$/;

const IMPORT = /^import (?:\{([^}]*)\}|(?:\* as )?(\w+)) from "(node:[\w/]+)";$/gm;

/** What esbuild makes of `require("fs")` in a CommonJS package, and what an ES module lacks. */
const REQUIRE = /\b__require\("(?:node:)?([\w/]+)"\)/g;

/**
 * @param {string} code an ES module as esbuild prints it
 * @returns {string} the same module without static imports of Node's own
 */
export function takeBuiltinsLazily(code) {
  const required = code.replace(REQUIRE, (call, /** @type {string} */ name) =>
    isBuiltin(name) ? `process.getBuiltinModule("node:${name}")` : call,
  );
  return required.replace(
    IMPORT,
    (_statement, /** @type {string} */ list, /** @type {string} */ whole, /** @type {string} */ name) => {
      if (name === "node:process" && whole === "process") return ""; // the global that the other lines use
      const module = `process.getBuiltinModule(${JSON.stringify(name)})`;
      if (whole) return `const ${whole} = ${module};`;
      const bindings = list.split(",").map((binding) => binding.trim().split(" as "));
      if (!HEAVY.has(name) || bindings.some(([exported = ""]) => NOT_CALLED.test(exported)))
        return `const { ${bindings.map((names) => names.join(": ")).join(", ")} } = ${module};`;
      return bindings
        .map(
          ([exported, local = exported]) => `const ${local} = (...args) => ${module}.${exported}(...args);`,
        )
        .join("\n");
    },
  );
}
