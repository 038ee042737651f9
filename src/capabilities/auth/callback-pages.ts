/** What the browser shows at the end of a sign-in. Nothing of the request is in a page. */

export interface Page {
  readonly status: number;
  readonly html: string;
}

type PageName = "done" | "denied" | "failed" | "busy" | "early" | "other" | "unknown" | "tooMany";

function page(status: number, title: string, text: string): Page {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
  return { status, html };
}

export const PAGES: Readonly<Record<PageName, Page>> = {
  done: page(200, "Signed in", "You can close this window."),
  denied: page(200, "Not signed in", "Access was not granted. You can close this window."),
  failed: page(500, "Not signed in", "The sign-in could not be completed. See the program that began it."),
  busy: page(409, "One moment", "The sign-in is being completed."),
  early: page(503, "One moment", "The sign-in has not begun yet."),
  other: page(
    400,
    "Not this one",
    "This is not the answer that is waited for. Open the address of the sign-in again.",
  ),
  unknown: page(404, "Nothing here", "There is nothing at this address."),
  tooMany: page(429, "Too many requests", "Begin a new sign-in."),
};
