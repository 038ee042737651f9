import { expect, test } from "vitest";
import { readRetryHint } from "../../src/model/provider-fault.ts";

const NOW = Date.parse("2026-11-15T10:00:00Z");

test.each([
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after": "1.5" }, 1500],
  [{ "retry-after": "Sun, 15 Nov 2026 10:00:20 GMT" }, 20_000],
  [{ "retry-after": "Sun, 15 Nov 2026 09:00:00 GMT" }, 0],
  [{ "x-ratelimit-reset": "12" }, 12_000],
  [{ "x-ratelimit-reset": String(NOW / 1000 + 30) }, 30_000],
  [{ "x-ratelimit-reset": String(NOW + 30_000) }, 30_000],
  [{ "x-ratelimit-reset-requests": "120ms", "x-ratelimit-reset-tokens": "1m2.5s" }, 62_500],
  [{ "anthropic-ratelimit-requests-reset": "2026-11-15T10:00:05Z" }, 5000],
  [{ "retry-after": "soon" }, undefined],
  [{ "x-request-id": "9" }, undefined],
])("%j asks to wait %s ms", (headers, expected) => {
  expect(readRetryHint(headers, NOW)).toBe(expected);
});
