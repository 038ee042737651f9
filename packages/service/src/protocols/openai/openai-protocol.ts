/** OpenAI's Responses and Skills, for clients whose base URL is `…/openai/v1`. */
import type { Protocol } from "../protocol.ts";
import { RESPONSE_ROUTES } from "./responses.ts";
import { SKILL_ROUTES } from "./skills.ts";

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
  500: "server_error",
  503: "server_error",
};

const CODES: Readonly<Record<number, string>> = { 401: "invalid_api_key", 429: "rate_limit_exceeded" };

export const OPENAI: Protocol = {
  name: "OpenAI Responses and Skills",
  prefix: "/openai",
  routes: [...RESPONSE_ROUTES, ...SKILL_ROUTES],
  tell({ status, code, message, hint, headers }) {
    const error = {
      message: `${message} ${hint}`,
      type: TYPES[status] ?? "invalid_request_error",
      param: null,
      code: CODES[status] ?? code,
    };
    return { status: status === 422 ? 400 : status, body: { error }, headers };
  },
};
