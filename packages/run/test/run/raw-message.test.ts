import { expect, test } from "vitest";
import { rawMessageOf } from "../../src/run/run-request.ts";

test("what the user wrote is what the host says they wrote, or what they typed themselves", () => {
  expect(rawMessageOf({ userMessage: "hello", message: "other", source: "model" })).toBe("hello");
  expect(rawMessageOf({ message: "hello", source: "user" })).toBe("hello");
  expect(rawMessageOf({ arguments: "http://localhost/?code=1", source: "user" })).toBe(
    "http://localhost/?code=1",
  );
});

test("what a model or a program says is never taken for it", () => {
  for (const source of ["model", "code"] as const) {
    expect(rawMessageOf({ message: "http://localhost/?code=1", arguments: "x", source })).toBeUndefined();
  }
  expect(rawMessageOf({ message: "http://localhost/?code=1" })).toBeUndefined();
  expect(rawMessageOf({ source: "user" })).toBeUndefined();
});
