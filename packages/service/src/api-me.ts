/** What the API answers to who asks about themselves, and to who would like to sign in. */

/** `GET /v1/me`: who asks, and what they may do here. */
export interface ApiMe {
  readonly keyId: string;
  readonly tenant: string;
  readonly userId?: string;
  readonly scopes: readonly string[];
  /** Sent back as `X-Metier-CSRF` with every change. Absent: the request came with a key, not with a cookie. */
  readonly csrf?: string;
  /** `inspect`: one person over their own home. `serve`: a service for many. */
  readonly mode: "inspect" | "serve";
  /** Whether an approval may be made a rule of the config from here. */
  readonly mayEditRules: boolean;
  readonly version: string;
}

/** `GET /v1/sign-in`: in which ways people can sign in on the page; for anybody. */
export interface ApiSignInWays {
  readonly key: true;
  /** By an identity provider: `GET /v1/sign-in/oidc` leads there. */
  readonly oidc: boolean;
}
