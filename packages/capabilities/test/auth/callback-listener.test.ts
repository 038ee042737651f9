import { request } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { ALICE } from "../../../../test/support/capability-broker.ts";
import {
  answered,
  faultOf,
  linkedAccounts,
  openSignInWorld,
  stateOf,
} from "../../../../test/support/sign-in-world.ts";
import { type CallbackListener, openCallbackListener } from "../../src/auth/callback-listener.ts";
import { type Answer, answerFault, answerWith } from "../../src/capability.ts";
import type { AuthFlow, CompletedAuth } from "../../src/capability-broker.ts";

const COMPLETED: CompletedAuth = { flowId: "caf_1", capability: "door.mail", accountRef: "account-1" };

async function open(): Promise<CallbackListener> {
  const listener = await openCallbackListener();
  onTestFinished(() => listener.close());
  return listener;
}

function flowTo({ redirectUri }: CallbackListener, more: Partial<AuthFlow> = {}): AuthFlow {
  const query = new URLSearchParams({ state: "s1", redirect_uri: redirectUri });
  return {
    flowId: "caf_1",
    capability: "door.mail",
    authUrl: `https://door.example/authorize?${query}`,
    flowType: "authorization_code",
    expiresAt: new Date(Date.now() + 60_000).toISOString(),
    ...more,
  };
}

/** As a browser would come, or something that says it was one. */
function visit(url: string, host?: string, method = "GET"): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false, ...(host && { headers: { host } }) }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("a listener for the browser", () => {
  test("takes the answer of a real sign-in, links the account and closes", async () => {
    const world = openSignInWorld();
    const listener = await open();
    expect(listener.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const { redirectUri } = listener;
    world.clock.now = Date.now();
    const flow = answered(await world.auth.begin(ALICE, { capability: "door.mail", redirectUri }));
    expect(new URL(flow.authUrl).searchParams.get("redirect_uri")).toBe(redirectUri);
    const completing = listener.complete(flow, (callbackUrl) =>
      world.auth.complete(ALICE, { flowId: flow.flowId, callbackUrl }),
    );
    const page = await visit(`${redirectUri}?code=abc&state=${stateOf(flow)}`);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining("Signed in") as string });
    expect(answered(await completing).accountRef).toBe("account-1");
    expect(await linkedAccounts(world, ALICE)).toEqual(["account-1"]);
    await expect(visit(redirectUri)).rejects.toThrow("ECONNREFUSED");
  });

  test("passes on nothing but the answer to its sign-in, and goes on waiting", async () => {
    const listener = await open();
    const { redirectUri } = listener;
    const given: string[] = [];
    const completing = listener.complete(flowTo(listener), async (callbackUrl) => {
      given.push(callbackUrl);
      return callbackUrl.includes("code=")
        ? answerWith(COMPLETED)
        : answerFault("capability_auth_code_missing", "None.");
    });
    const port = new URL(redirectUri).port;
    expect((await visit(`${redirectUri}?code=abc&state=other`)).status).toBe(400);
    expect((await visit(`${redirectUri}?code=abc`)).status).toBe(400);
    expect((await visit(`http://127.0.0.1:${port}/favicon.ico`)).status).toBe(404);
    expect((await visit(`${redirectUri}?code=abc&state=s1`, `evil.example:${port}`)).status).toBe(404);
    expect((await visit(`${redirectUri}?code=abc&state=s1`, undefined, "POST")).status).toBe(404);
    expect(given).toEqual([]);
    expect((await visit(`${redirectUri}?state=s1`)).status).toBe(400);
    expect((await visit(`${redirectUri}?state=s1&code=<script>`)).text).not.toContain("script");
    expect(answered(await completing)).toEqual(COMPLETED);
  });

  test("tells the user of a denial, and the program", async () => {
    const listener = await open();
    const denied = answerFault("capability_auth_flow_denied", "No.");
    const completing = listener.complete(flowTo(listener), async () => denied);
    const page = await visit(`${listener.redirectUri}?error=access_denied&state=s1`);
    expect(page.text).toContain("Access was denied");
    expect(await completing).toEqual(denied);
  });

  test("gives one answer at a time to whoever completes", async () => {
    const listener = await open();
    let finish: (answer: Answer<CompletedAuth>) => void = () => undefined;
    const waiting = new Promise<Answer<CompletedAuth>>((resolve) => {
      finish = resolve;
    });
    let started: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      started = resolve;
    });
    let times = 0;
    const completing = listener.complete(flowTo(listener), () => {
      times++;
      started();
      return waiting;
    });
    const url = `${listener.redirectUri}?code=abc&state=s1`;
    const first = visit(url);
    await isAsked;
    expect((await visit(url)).status).toBe(409);
    finish(answerWith(COMPLETED));
    expect((await first).status).toBe(200);
    await completing;
    expect(times).toBe(1);
  });

  test("does not wait for a browser that is sent elsewhere, or for none", async () => {
    for (const more of [
      { authUrl: "https://door.example/?redirect_uri=http%3A%2F%2Flocalhost%3A1%2F" },
      { flowType: "device_code" as const },
    ]) {
      const listener = await open();
      const answer = await listener.complete(flowTo(listener, more), async () => answerWith(COMPLETED));
      expect(faultOf(answer).code).toBe("capability_invalid_input");
      await expect(visit(listener.redirectUri)).rejects.toThrow("ECONNREFUSED");
    }
  });

  test("gives up when the sign-in has expired, and when the caller does", async () => {
    const late = await open();
    const expired = flowTo(late, { expiresAt: new Date(Date.now() - 1000).toISOString() });
    expect(faultOf(await late.complete(expired, async () => answerWith(COMPLETED))).code).toBe(
      "capability_auth_flow_expired",
    );
    const left = await open();
    const control = new AbortController();
    const completing = left.complete(flowTo(left), async () => answerWith(COMPLETED), control.signal);
    expect((await visit(`${left.redirectUri}?state=other`)).status).toBe(400);
    control.abort();
    expect(faultOf(await completing).code).toBe("capability_cancelled");
  });

  test("rejects with what went wrong on our side", async () => {
    const listener = await open();
    const completing = listener.complete(flowTo(listener), async () => {
      throw new Error("The disk is full.");
    });
    const failed = expect(completing).rejects.toThrow("The disk is full.");
    expect((await visit(`${listener.redirectUri}?code=abc&state=s1`)).status).toBe(500);
    await failed;
  });
});
