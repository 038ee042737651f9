/** Character references of HTML: all numeric ones, and the named ones that text on the web really has. */

const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: "\u00a0",
    ensp: " ",
    emsp: " ",
    thinsp: " ",
    shy: "",
    zwnj: "",
    zwj: "",
    copy: "©",
    reg: "®",
    trade: "™",
    hellip: "…",
    mdash: "—",
    ndash: "–",
    minus: "−",
    lsquo: "‘",
    rsquo: "’",
    sbquo: "‚",
    ldquo: "“",
    rdquo: "”",
    bdquo: "„",
    laquo: "«",
    raquo: "»",
    lsaquo: "‹",
    rsaquo: "›",
    bull: "•",
    middot: "·",
    times: "×",
    divide: "÷",
    plusmn: "±",
    frac12: "½",
    frac14: "¼",
    frac34: "¾",
    sup2: "²",
    sup3: "³",
    deg: "°",
    micro: "µ",
    euro: "€",
    pound: "£",
    yen: "¥",
    cent: "¢",
    sect: "§",
    para: "¶",
    larr: "←",
    rarr: "→",
    uarr: "↑",
    darr: "↓",
    harr: "↔",
    ne: "≠",
    le: "≤",
    ge: "≥",
    szlig: "ß",
    aelig: "æ",
    AElig: "Æ",
    oslash: "ø",
    Oslash: "Ø",
    aring: "å",
    Aring: "Å",
    lowbar: "_",
    lbrace: "{",
    rbrace: "}",
    lsqb: "[",
    rsqb: "]",
    lpar: "(",
    rpar: ")",
    colon: ":",
    comma: ",",
    period: ".",
    excl: "!",
    quest: "?",
    num: "#",
    ast: "*",
    sol: "/",
    bsol: "\\",
    grave: "`",
    vert: "|",
    commat: "@",
    dollar: "$",
    percnt: "%",
    equals: "=",
    plus: "+",
    semi: ";",
    Tab: "\t",
    NewLine: "\n",
  }),
);

/** `&eacute;` and its kin: a letter and a mark. */
const MARKS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    acute: "\u0301",
    grave: "\u0300",
    circ: "\u0302",
    tilde: "\u0303",
    uml: "\u0308",
    caron: "\u030c",
    cedil: "\u0327",
  }),
);

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,10}));/g;
const MARKED = /^([a-zA-Z])(acute|grave|circ|tilde|uml|caron|cedil)$/;

/** Names that are not known stay as they are. */
export function decodeEntities(text: string): string {
  return text.replace(REFERENCE, (whole, decimal?: string, hexadecimal?: string, name = "") => {
    if (decimal !== undefined) return fromCode(Number(decimal));
    if (hexadecimal !== undefined) return fromCode(Number.parseInt(hexadecimal, 16));
    return NAMED.get(name) ?? fromMarked(name) ?? whole;
  });
}

function fromCode(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
}

function fromMarked(name: string): string | undefined {
  const [, letter = "", mark = ""] = MARKED.exec(name) ?? [];
  const combining = MARKS.get(mark);
  return combining === undefined ? undefined : (letter + combining).normalize("NFC");
}
