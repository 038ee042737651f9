/** Calls a minute, for each user and capability. */
import { expect, test } from "vitest";
import { createRateLimits } from "../src/access.ts";

test("so many calls in any minute, and then it is said how long to wait", () => {
  let time = 0;
  const limits = createRateLimits({ perMinute: 2, now: () => time });
  expect(limits.take("alice", "desk.mail")).toBeUndefined();
  time = 10_000;
  expect(limits.take("alice", "desk.mail")).toBeUndefined();
  time = 20_500;
  expect(limits.take("alice", "desk.mail")).toBe(40);
  time = 59_999;
  expect(limits.take("alice", "desk.mail")).toBe(1);
  time = 60_000;
  expect(limits.take("alice", "desk.mail")).toBeUndefined();
  expect(limits.take("alice", "desk.mail")).toBe(10);
});

test("users and capabilities are counted apart", () => {
  const limits = createRateLimits({ perMinute: 1, now: () => 0 });
  expect(limits.take("alice", "desk.mail")).toBeUndefined();
  expect(limits.take("bob", "desk.mail")).toBeUndefined();
  expect(limits.take("alice", "desk.calendar")).toBeUndefined();
  expect(limits.take("alice", "desk.mail")).toBe(60);
});

test("those who have not called for longest are forgotten first", () => {
  const limits = createRateLimits({ perMinute: 1, now: () => 0 });
  for (let user = 0; user <= 10_000; user++) limits.take(`user ${user}`, "desk.mail");
  expect(limits.take("user 10000", "desk.mail")).toBe(60);
  expect(limits.take("user 0", "desk.mail")).toBeUndefined();
});
