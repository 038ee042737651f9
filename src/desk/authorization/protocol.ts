/** What the authorization server of the desk and its client agree on: RFC 8628 and RFC 6749, with these names. */

/** A program on the user's machine keeps no secret, so it has none: a public client. */
export const CLIENT_ID = "metier-desk";
export const DEFAULT_PORT = 8628;
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
export const PATHS = {
  deviceAuthorization: "/device_authorization",
  token: "/token",
  revoke: "/revoke",
  approve: "/device",
} as const;
