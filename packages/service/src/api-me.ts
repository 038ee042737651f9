/** Response types about the caller, and about signing in. */

/** `GET /v1/me`: who the caller is, and what they may do here. */
export interface ApiMe {
  readonly keyId: string;
  readonly tenant: string;
  readonly userId?: string;
  readonly scopes: readonly string[];
  /** Send it as `X-Metier-CSRF` with every change. Absent: the request came with a key, not a cookie. */
  readonly csrf?: string;
  /** `inspect`: one person on their own home. `serve`: a service for many. */
  readonly mode: "inspect" | "serve";
  /** Whether approvals can be turned into config rules from here. */
  readonly mayEditRules: boolean;
  readonly version: string;
}

/** `GET /v1/sign-in`: how people can sign in on the page; public. */
export interface ApiSignInWays {
  readonly key: true;
  /** With an identity provider: `GET /v1/sign-in/oidc` leads there. */
  readonly oidc: boolean;
}
