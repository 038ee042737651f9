/** The page on which a user types the code and says which account is linked. No script, nothing from elsewhere. */

export interface ApprovalPage {
  readonly userCode?: string;
  readonly account?: string;
  /** What came of the last try. */
  readonly notice?: string;
  /** Nothing is left to be done here. */
  readonly isOver?: boolean;
}

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem}" +
  "label{display:block;margin:1rem 0}input{display:block;width:100%;font:inherit;padding:.4rem;box-sizing:border-box}" +
  "button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}.notice{border-left:4px solid;padding-left:.8rem}";

export function renderApprovalPage({
  userCode = "",
  account = "",
  notice,
  isOver = false,
}: ApprovalPage): string {
  const told = notice === undefined ? "" : `<p class="notice" role="status">${escapeHtml(notice)}</p>`;
  const form = `<form method="post" autocomplete="off">
<label>Code <input name="user_code" value="${escapeHtml(userCode)}" required autofocus></label>
<label>Account <input name="account" value="${escapeHtml(account)}"></label>
<label>Passcode <input name="passcode" type="password"></label>
<button name="decision" value="approve">Link the account</button>
<button name="decision" value="deny">Say no</button>
</form>
<p>Go on only if you asked for this yourself, and the code is the one that you were shown.</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Link a desk account</title><style>${STYLE}</style></head>
<body><h1>Link a desk account</h1>${told}${isOver ? "" : form}</body></html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
