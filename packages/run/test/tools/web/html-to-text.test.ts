import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { htmlToText } from "../../../src/tools/web/html-to-text.ts";

const PAGE = "https://example.com/dir/page.html";

function toText(html: string): string {
  return htmlToText(html, PAGE);
}

describe("a page becomes text", () => {
  test("with its title, headings, paragraphs and lists", () => {
    const html = `<!DOCTYPE html><html><head><title>The page</title><style>p > a {}</style></head>
      <body><h1>Big</h1><p>One
      line <b>with</b>words.</p><h2>Small</h2><ul><li>first<li>second</ul><p>end<br>of it</body></html>`;
    expect(toText(html)).toBe(
      "The page\n\n# Big\n\nOne line withwords.\n\n## Small\n\n- first\n- second\n\nend\nof it",
    );
  });

  test("with one mark for each thing in a list that has words", () => {
    expect(toText("<ul><li><p>one</p><p>more</p></li><li></li><li><div>two</div></ul><h2></h2>end")).toBe(
      "- one\n\nmore\n\n- two\n\nend",
    );
  });

  test("with where its links lead", () => {
    const html = `<a href="../up?a=1&amp;b=2">up</a>, <a href='https://other.example'>other</a>, <a href=next>next</a>,
      <a href="#part">part</a>, <a href="javascript:alert(1)">script</a>, <a href="mailto:a@b.c">mail</a>, <a href="/icon"></a>end`;
    expect(toText(html)).toBe(
      "up (https://example.com/up?a=1&b=2), other (https://other.example/), next (https://example.com/dir/next), " +
        "part, script, mail, end",
    );
  });

  test("with the rows of its tables", () => {
    expect(toText("<table><tr><th>a<th>b</th></tr><tr><td>1</td><td>2</td></tr></table>")).toBe(
      "a | b\n1 | 2",
    );
  });

  test("with code as it is written", () => {
    expect(toText("<p>see</p><pre>if (a &lt; b) {\n    go();\n}</pre>then")).toBe(
      "see\n\nif (a < b) {\n    go();\n}\n\nthen",
    );
  });

  test("without scripts, styles, comments and other things nobody reads", () => {
    const html =
      "a<script>if (x < 1) document.write('</p>')</script>b<!-- <p>hidden</p> -->c<STYLE>d</STYLE >" +
      "<svg><text>e</text></svg><template>f</template><?php g ?><![CDATA[h]]>i<script>unclosed";
    expect(toText(html)).toBe("abci");
  });

  test("although its tags are odd", () => {
    expect(toText('<p title="a > b" class=x">text</p>')).toBe("text");
    expect(toText("1 < 2 and a<b")).toBe("1 < 2 and a");
    expect(toText("</>x</ y>z")).toBe("xz");
    expect(toText("<svg/>still here")).toBe("still here");
    expect(toText("<svg/>here<svg><style/>a</svg> and <object>there")).toBe("here and there");
    expect(toText("<a href='x")).toBe("");
  });

  test("whatever it is, without an exception and without what scripts hold", () => {
    const part = fc.constantFrom(
      "<",
      ">",
      "<a href=",
      "</a>",
      "<!--",
      "-->",
      '"',
      "'",
      "=",
      "<script>",
      "</script>",
      "<pre>",
      "x",
      " ",
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        expect(toText(`${parts.join("")}-->"'></script><script>secret</script>`)).not.toContain("secret");
      }),
    );
  });

  test.each([
    "<svg>",
    "<!--",
    "<a ",
    "</script ",
    '<a href="',
    "<script>",
    "<",
    "&#1;",
    "<p>x",
    "<a href=x>y",
    "<div>",
    "<b></i>",
    "<ul><li>x",
    "</svg><svg>",
    "<svg><style>",
    "<template><a>",
    "<title>&",
    "<a href=&amp",
    "<b x='",
    "&",
    "&#",
    "&#x1",
    "<![CDATA[",
    "<!-",
    "--!",
  ])("in time, though it repeats %j for a long while", (part) => {
    expect(toText(part.repeat(200_000)).length).toBeLessThan(200_000 * 40);
  });
});

describe("character references", () => {
  test.each([
    ["&lt;b&gt; &amp;amp; &quot;x&quot;", '<b> &amp; "x"'],
    ["&#65;&#x42;&#X1F600;", "AB😀"],
    ["&eacute;&Uuml;&ccedil;&ntilde;&szlig;", "éÜçñß"],
    ["&unknown; &; & &#; &#x110000; &#9999999;", "&unknown; &; & &#; \ufffd \ufffd"],
    ["&copy 2026, AT&T, &notit; &hearts;&shy;&ell;", "© 2026, AT&T, ¬it; ♥ℓ"],
    ["&constructor; &toString;", "&constructor; &toString;"],
  ])("%s", (text, expected) => {
    expect(toText(text)).toBe(expected);
  });
});
