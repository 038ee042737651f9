/** What tokens of well-known services look like: forms that their makers chose so that they can be recognised. */
export interface TokenForm {
  readonly what: string;
  readonly pattern: RegExp;
}

/** Global: use `matchAll` or `search`. Every repetition is bounded, so that no text can keep a search busy. */
export const TOKEN_FORMS: readonly TokenForm[] = [
  { what: "an AWS access key", pattern: /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g },
  {
    what: "a GitHub token",
    pattern: /\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{60,255}\b/g,
  },
  { what: "a GitLab token", pattern: /\bglpat-[A-Za-z0-9_-]{20,300}\b/g },
  { what: "an Anthropic key", pattern: /\bsk-ant-(?:api|admin|oat)\d{2}-[A-Za-z0-9_-]{60,300}\b/g },
  {
    what: "an OpenAI key",
    pattern:
      /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,200}T3BlbkFJ[A-Za-z0-9_-]{20,200}\b|\bsk-[A-Za-z0-9]{48}\b/g,
  },
  { what: "a Slack token", pattern: /\bxox[abposr]-\d{8,20}-\d{8,20}-[A-Za-z0-9-]{20,200}\b/g },
  {
    what: "a Slack webhook",
    pattern: /https:\/\/hooks\.slack\.com\/services\/T[A-Z0-9]{8,20}\/B[A-Z0-9]{8,20}\/[A-Za-z0-9]{24}/g,
  },
  {
    what: "a Discord webhook",
    pattern: /https:\/\/(?:\w{1,20}\.)?discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,200}/g,
  },
  { what: "a Stripe key", pattern: /\b[rs]k_live_[A-Za-z0-9]{24,300}\b/g },
  { what: "a Google API key", pattern: /\bAIza[A-Za-z0-9_-]{35}\b/g },
  { what: "a Google client secret", pattern: /\bGOCSPX-[A-Za-z0-9_-]{28}\b/g },
  { what: "an npm token", pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { what: "a PyPI token", pattern: /\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,400}\b/g },
  { what: "a Hugging Face token", pattern: /\bhf_[A-Za-z0-9]{34}\b/g },
  { what: "a SendGrid key", pattern: /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b/g },
  { what: "a Telegram bot token", pattern: /\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b/g },
  { what: "a Twilio key", pattern: /\bSK[0-9a-f]{32}\b/g },
];
