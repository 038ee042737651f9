/** A small XML reader that is strict: elements without attributes, the five entities, nothing else. */

export interface XmlElement {
  readonly tag: string;
  /** Its text, entities resolved, without that of the elements in it. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const TOKEN = /<(\/?)([a-z_]+)>|&(amp|lt|gt|quot|apos);|([^<>&"']+)/y;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const FORBIDDEN = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

interface Open {
  readonly tag: string;
  text: string;
  readonly children: XmlElement[];
}

/** The root element; throws on anything that is not well-formed, or that stands after it. */
export function readXml(xml: string): XmlElement {
  if (FORBIDDEN.test(xml)) throw new Error("a character that XML forbids");
  const document: Open = { tag: "", text: "", children: [] };
  const open: Open[] = [document];
  for (let at = 0; at < xml.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(xml);
    const current = open.at(-1);
    if (match === null || current === undefined)
      throw new Error(`not well-formed at ${at}: ${xml.slice(at, at + 40)}`);
    const [, slash, tag, entity, text] = match;
    if (tag === undefined) current.text += entity === undefined ? text : ENTITIES[entity];
    else if (slash === "") open.push({ tag, text: "", children: [] });
    else {
      open.pop();
      if (current.tag !== tag) throw new Error(`</${tag}> closes <${current.tag}>`);
      open.at(-1)?.children.push(current);
    }
  }
  const [root] = document.children;
  if (open.length !== 1 || root === undefined || document.children.length > 1 || document.text !== "") {
    throw new Error("not exactly one root element");
  }
  return root;
}
