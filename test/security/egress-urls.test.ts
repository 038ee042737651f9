/** Hostile URLs, with every public domain granted: whatever is refused here is refused to everyone. */
import { type AddressBook, checkUrl, guardedFetch, SYSTEM_ADDRESSES } from "@metier/sandbox/egress";
import { describe, expect, test } from "vitest";

/** With these ports granted too, nothing is refused just for its port. */
const EVERYTHING = ["*", "*:0", "*:22", "*:8080", "*:11434"];

/** Names of an attacker: DNS answers what he likes. A name that is not here must never be asked for. */
const HOSTILE_NAMES: Readonly<Record<string, readonly string[]>> = {
  "loopback.test": ["127.0.0.1"],
  "loopback6.test": ["::1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "6to4.test": ["2002:7f00:1::"],
  "private.test": ["10.1.2.3"],
  "metadata.test": ["169.254.169.254"],
  "metadata6.test": ["fd00:ec2::254"],
  "mixed.test": ["93.184.215.14", "127.0.0.1"],
  "mixed6.test": ["2606:4700::1", "fe80::1%eth0"],
  "zero.test": ["0.0.0.0"],
  "broadcast.test": ["255.255.255.255"],
  "garbage.test": ["not an address"],
  "octal.test": ["0177.0.0.1"],
  "127.0.0.1.nip.test": ["127.0.0.1"],
};

/** Real judgement of addresses; only the name server is the attacker's. */
const BOOK: AddressBook = {
  ...SYSTEM_ADDRESSES,
  async resolve(host) {
    const answer = HOSTILE_NAMES[host];
    if (answer === undefined) throw new Error(`\`${host}\` was looked up.`);
    return answer;
  },
};

const REFUSED: readonly (readonly [reason: string, urls: readonly string[]])[] = [
  [
    "invalid",
    [
      "",
      " ",
      "example.com",
      "//example.com/",
      "/etc/passwd",
      "http://",
      "http:///",
      "https://?x",
      "http://#x",
      "http://exa mple.com/",
      "http://example.com:99999/",
      "http://example.com:port/",
      "http://256.256.256.256/",
      "http://1.2.3.4.5/",
      "http://[::1/",
      "http://[::g]/",
      "http://[fe80::1%25eth0]/",
      "http://example%00.com/",
      "http://example.com../",
      "http://..example.com/",
      "http://*.example.com/",
      `http://${"a".repeat(64)}.example/`,
      `http://${"a.".repeat(200)}example/`,
      `https://example.com/${"x".repeat(9000)}`,
      "file:///etc/passwd",
      "file://localhost/etc/passwd",
      "ftp://example.com/",
      "gopher://example.com:11211/_stats",
      "data:text/html,<script>",
      "javascript:alert(1)",
      "blob:https://example.com/1",
      "ws://example.com/",
      "unix:/var/run/docker.sock",
      "view-source:https://example.com/",
      "dict://example.com:11211/stat",
      "\u0000http:",
    ],
  ],
  [
    "credentials",
    [
      "https://user@example.com/",
      "https://user:secret@example.com/",
      "https://:secret@example.com/",
      "ftp://user:secret@example.com/",
      "https://example.com@127.0.0.1/",
      "https://example.com%40@evil.example/",
      "https://example.com:80@127.0.0.1/",
    ],
  ],
  [
    "local-name",
    [
      "http://localhost/",
      "http://LOCALHOST/",
      "http://localhost./",
      "http://ⓛocalhost/",
      "http://lo\u00adcalhost/",
      "http://lo%63alhost/",
      "http://a.localhost/",
      "http://localhost.localdomain/",
      "http://printer.local/",
      "http://printer.local./",
      "http://metadata.google.internal/computeMetadata/v1/",
      "http://host.docker.internal:11434/",
      "http://router.home.arpa/",
      "http://nas.lan/",
      "http://router/",
      "http:router",
      "http://wiki.intranet/",
    ],
  ],
  [
    "private-address",
    [
      "http://127.0.0.1/",
      "http://127.0.0.1:22/",
      "http://127.0.0.1./",
      "http://127.1/",
      "http://127.0.1/",
      "http://2130706433/",
      "http://017700000001/",
      "http://0177.0.0.1/",
      "http://0x7f000001/",
      "http://0x7f.0.0.1/",
      "http://0x7f.1/",
      "http://①②⑦.⓪.⓪.①/",
      "http://１２７.０.０.１/",
      "http://127。0。0。1/",
      "http://%31%32%37.0.0.1/",
      "http:\\\\127.0.0.1\\",
      "ht\ntp://127.0.0.1/",
      "http://0/",
      "http://0.0.0.0:8080/",
      "http://10.0.0.1/",
      "http://100.64.0.1/",
      "http://169.254.169.254/latest/meta-data/",
      "http://2852039166/",
      "http://0xa9fea9fe/",
      "http://168.63.129.16/",
      "http://172.16.0.1/",
      "http://192.168.0.1/",
      "http://198.18.0.1/",
      "http://224.0.0.1/",
      "http://255.255.255.255/",
      "http://[::]/",
      "http://[::1]/",
      "http://[0:0:0:0:0:0:0:1]:8080/",
      "http://[::127.0.0.1]/",
      "http://[::ffff:127.0.0.1]/",
      "http://[::ffff:7f00:1]/",
      "http://[::ffff:169.254.169.254]/",
      "http://[64:ff9b::7f00:1]/",
      "http://[2002:7f00:1::]/",
      "http://[2001:0:7f00:1::]/",
      "http://[fc00::1]/",
      "http://[fd00:ec2::254]/",
      "http://[fe80::1]/",
      "http://[ff02::1]/",
      ...Object.keys(HOSTILE_NAMES).map((name) => `http://${name}/`),
      "http://LOOPBACK.test./",
    ],
  ],
];

describe.each(REFUSED)("refused as `%s`", (reason, urls) => {
  test.each(urls)("%j", async (url) => {
    const outcome = await guardedFetch(url, { network: EVERYTHING }, BOOK);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason } });
    expect(outcome).toHaveProperty("refusal.message", expect.not.stringMatching(/[\p{Cc}\p{Cf}]|secret/u));
  });
});

describe("without a grant", () => {
  const names = REFUSED.flatMap(([, urls]) => urls);

  test.each([...names, "https://example.com/"])("%j is refused before any name is looked up", async (url) => {
    const book = { ...SYSTEM_ADDRESSES, resolve: () => Promise.reject(new Error("A name was looked up.")) };
    const outcome = await guardedFetch(url, { network: [] }, book);
    expect(outcome.ok).toBe(false);
    expect(outcome).not.toHaveProperty("refusal.reason", "unresolved");
  });

  test("the message names the keys that grant", () => {
    const outcome = checkUrl("https://example.com:8443/x", []);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "not-granted" } });
    expect(outcome).toHaveProperty(
      "refusal.message",
      expect.stringContaining('`network = ["example.com:8443"]`'),
    );
    expect(outcome).toHaveProperty("refusal.message", expect.stringContaining("`sandbox.network`"));
  });

  test("the message says what is granted, and which entry is no domain", () => {
    const outcome = checkUrl("https://example.com/", ["*.example.com", "https://example.com"]);
    expect(outcome).toHaveProperty(
      "refusal.message",
      expect.stringContaining("Granted: `*.example.com`, `https://example.com` (not a domain)."),
    );
  });
});
