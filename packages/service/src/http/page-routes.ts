/**
 * The addresses that are for people's browsers and not part of the API: the inspector's page, and the way into it that
 * `metier inspect` prints. They are given to anybody who comes by a name of this machine.
 */
import { done, type Result } from "@metier/base/result";
import { writeCookie } from "../keys/cookie-gate.ts";
import type { ServiceContext } from "../service-context.ts";
import { checkHost, type RequestClient } from "./browser-guard.ts";
import { type HttpRefusal, refuse } from "./refusal.ts";
import { openPageServer, type ServedPage } from "./serve-page.ts";

/** A way in without a typed key: whoever brings a token that counts is signed in with the key. */
export interface PageOpening {
  readonly key: string;
  accepts(token: string): boolean;
}

export interface PageRoute {
  /** As Hono spells it. */
  readonly path: string;
  answer(request: PageRequest): Promise<Result<Response, HttpRefusal>>;
}

interface PageRequest {
  readonly url: URL;
  readonly headers: Headers;
  readonly client: RequestClient;
}

interface PageParts {
  readonly page?: ServedPage | undefined;
  readonly opening?: PageOpening | undefined;
}

/** None where there is no page. */
export function pageRoutes({ page, opening }: PageParts, context: ServiceContext): readonly PageRoute[] {
  if (page === undefined) return [];
  const server = openPageServer(page);
  const give: PageRoute["answer"] = async ({ url, headers }) => {
    const host = checkHost(headers, context.isOnLoopback);
    if (!host.ok) return host;
    const answer = await server.answer(url.pathname.slice(1) || "index.html", headers);
    return answer ? done(answer) : refuseFile();
  };
  return [
    { path: "/", answer: give },
    { path: "/assets/:name", answer: give },
    ...(opening === undefined ? [] : [{ path: "/open", answer: openWith(opening, context) }]),
  ];
}

/** The token leaves the address bar with the answer; what stays is the cookie. */
function openWith(opening: PageOpening, context: ServiceContext): PageRoute["answer"] {
  return async ({ url, headers, client }) => {
    const host = checkHost(headers, context.isOnLoopback);
    if (!host.ok) return host;
    const isRight = opening.accepts(url.searchParams.get("token") ?? "");
    // A wrong one is a wrong key, and counted as such.
    const begun = await context.authenticate.signIn(isRight ? opening.key : "", client);
    if (!begun.ok) return isRight || begun.refusal.status === 429 ? begun : refuseToken();
    const cookie = writeCookie(client, begun.value.cookie);
    return done(new Response(null, { status: 303, headers: { Location: "/", "Set-Cookie": cookie } }));
  };
}

function refuseFile(): Result<never, HttpRefusal> {
  return refuse(404, "not_found", "The page has no such file.", "Load the page again: it may be newer.");
}

function refuseToken(): Result<never, HttpRefusal> {
  return refuse(
    401,
    "token_unknown",
    "This address is not the one that `metier inspect` printed, or is of one that has ended.",
    "Copy the whole address from the terminal, or start `metier inspect` again.",
  );
}
