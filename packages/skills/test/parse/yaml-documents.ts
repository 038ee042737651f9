/** Generated YAML for property tests: simple documents, and the same ones with a few characters changed. */
import fc from "fast-check";

const plain = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      "a",
      "Read",
      "one two",
      "a:b",
      "é b",
      "日本語",
      "Bash(git:*)",
      "it's",
      "C#",
      "1.2.3",
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "1",
      "1.0",
      "1.",
      ".5",
      "0x1F",
      "0o7",
      "1e3",
      "-0",
      "+1",
      "1_000",
      "12345678901234567890",
      ".inf",
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "true",
      "True",
      "yes",
      "null",
      "~",
      "Null",
      "NULL",
      "2024-01-01",
      "-x",
      ":x",
      "?x",
      ".",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("Use when: never", "x #1", "x # y", "- a", "*", "&x", "-", "--", "?", "a:"),
  },
  {
    weight: 1,
    arbitrary: fc.string({
      unit: fc.constantFrom(..."abz09 .,:#-'\"[]{}|>&*!%@`\\~?/\u00a0é"),
      maxLength: 12,
    }),
  },
);

const scalar = fc.oneof(
  { weight: 4, arbitrary: plain },
  plain.map((text) => `"${text}"`),
  plain.map((text) => `'${text}'`),
  fc.array(plain, { maxLength: 4 }).map((items) => `[${items.join(", ")}]`),
  fc.constantFrom("{}", "[]", "[ ]", "", " ", "# c"),
);

const key = fc.constantFrom("name", "description", "a", "b-c", "d_e", "f.g", "true", "null", "k1");
const blankOrComment = fc.constantFrom("", "", "", "\n", "  \n", "# comment\n", "   # deep\n", "\n\n");

/** The lines of a value below `key:`, indented by `indent` blanks. */
function below(indent: number): fc.Arbitrary<string> {
  const pad = " ".repeat(indent);
  const line = fc.oneof(plain, fc.constantFrom("", "", "  more", "end ", " "));
  const block = fc
    .tuple(
      fc.constantFrom("|", "|-", ">", ">-", "|", ">", "|+", ">2"),
      fc.array(line, { minLength: 1, maxLength: 5 }),
    )
    .map(([mark, lines]) => ` ${mark}\n${lines.map((text) => (text === "" ? "" : pad + text)).join("\n")}\n`);
  const list = fc
    .array(scalar, { minLength: 1, maxLength: 4 })
    .map((items) => `\n${items.map((item) => `${pad}- ${item}\n`).join("")}`);
  const folded = fc
    .array(plain, { minLength: 2, maxLength: 3 })
    .map((lines) => ` ${lines.join(`\n${pad}`)}\n`);
  return fc.oneof(block, list, folded);
}

function map(indent: number, depth: number): fc.Arbitrary<string> {
  const pad = " ".repeat(indent);
  const inline = fc
    .tuple(scalar, fc.constantFrom("", "", " ", " # c"))
    .map(([value, end]) => ` ${value}${end}\n`);
  const nested = depth === 0 ? inline : map(indent + 2, depth - 1).map((text) => `\n${text}`);
  const value = fc.oneof(
    { weight: 6, arbitrary: inline },
    { weight: 3, arbitrary: below(indent + 2) },
    below(indent),
    { weight: 2, arbitrary: nested },
  );
  return fc
    .array(fc.tuple(blankOrComment, key, value), { minLength: 1, maxLength: 4 })
    .map((entries) => entries.map(([before, name, text]) => `${before}${pad}${name}:${text}`).join(""));
}

/** Documents of the kind the simple reader is made for; many are outside of it, or not YAML at all. */
export const simpleDocument: fc.Arbitrary<string> = map(0, 2);

const edit = fc.tuple(
  fc.nat(),
  fc.constantFrom("", ..." \n\t:#-'\"[]{}|>&*!%@`,?ax0.\\\u00a0\u200b\u0085\u2028"),
  fc.boolean(),
);

/** A simple document with a few characters replaced, inserted or removed. */
export const mutatedDocument: fc.Arbitrary<string> = fc
  .tuple(simpleDocument, fc.array(edit, { minLength: 1, maxLength: 3 }))
  .map(([text, edits]) => edits.reduce(applyEdit, text));

function applyEdit(text: string, [place, character, isInsert]: readonly [number, string, boolean]): string {
  const at = text.length === 0 ? 0 : place % text.length;
  return text.slice(0, at) + character + text.slice(isInsert ? at : at + 1);
}
