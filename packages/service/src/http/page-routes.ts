/**
 * The paths for browsers, which aren't part of the API: the inspector's page, and the link that `metier inspect`
 * prints. They are served to anyone who uses one of this machine's names.
 */
import { done, type Result } from "@metier/base/result";
import { writeCookie } from "../keys/cookie-gate.ts";
import type { ServiceContext } from "../service-context.ts";
import { checkHost, type RequestClient } from "./browser-guard.ts";
import { type HttpRefusal, refuse } from "./refusal.ts";
import { openPageServer, type ServedPage } from "./serve-page.ts";

/** A way in without typing a key: whoever has a valid token is signed in with the key. */
export interface PageOpening {
  readonly key: string;
  accepts(token: string): boolean;
}

export interface PageRoute {
  /** In Hono's spelling. */
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

/** Empty if there is no page. */
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

/** The token disappears from the address bar with the response; the cookie stays. */
function openWith(opening: PageOpening, context: ServiceContext): PageRoute["answer"] {
  return async ({ url, headers, client }) => {
    const host = checkHost(headers, context.isOnLoopback);
    if (!host.ok) return host;
    const isRight = opening.accepts(url.searchParams.get("token") ?? "");
    // A wrong token counts as a wrong key.
    const begun = await context.authenticate.signIn(isRight ? opening.key : "", client);
    if (!begun.ok) return isRight || begun.refusal.status === 429 ? begun : refuseToken();
    const cookie = writeCookie(client, begun.value.cookie);
    return done(new Response(null, { status: 303, headers: { Location: "/", "Set-Cookie": cookie } }));
  };
}

function refuseFile(): Result<never, HttpRefusal> {
  return refuse(
    404,
    "not_found",
    "The page has no such file.",
    "Reload the page; the service may have been updated.",
  );
}

function refuseToken(): Result<never, HttpRefusal> {
  return refuse(
    401,
    "token_unknown",
    "This address is not the one `metier inspect` printed, or that `metier inspect` has ended.",
    "Copy the whole address from the terminal, or start `metier inspect` again.",
  );
}
