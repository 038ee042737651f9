/**
 * A run as one self-contained file: the inspector's page with the responses it needs. Whoever serves the page provides
 * it.
 */
import { done } from "@metier/base/result";
import { refuse } from "../http/refusal.ts";
import { defineRoute, type ServiceRoute } from "../http/route.ts";
import { collectRunView } from "../runs/export-run.ts";
import { findRun } from "./find-run.ts";

const readRunPage = defineRoute({
  method: "GET",
  path: "/v1/runs/{id}/export.html",
  scope: "read",
  group: "runs",
  summary: "Download a run as a single HTML file that works without a server.",
  answers: { 200: { about: "The file, as an attachment.", type: "text/html" } },
  async handle({ identity, param }, context) {
    const run = await findRun(context, identity, param("id"));
    if (!run.ok) return run;
    if (context.exportView === undefined) {
      return refuse(
        404,
        "no_page",
        "This server has no inspector, so it cannot export a page.",
        "Use `GET /v1/runs/{id}` and its events, or start the server with the inspector.",
      );
    }
    const html = context.exportView(await collectRunView(context, run.value));
    return done(
      new Response(html, {
        headers: {
          "Content-Type": "text/html; charset=utf-8",
          "Content-Disposition": `attachment; filename="run-${run.value.id.replace(/[^\w-]/g, "_")}.html"`,
          // If a browser shows it here, it gets no scripts, and nothing from this server.
          "Content-Security-Policy": "sandbox; default-src 'none'",
          "Cross-Origin-Resource-Policy": "same-origin",
        },
      }),
    );
  },
});

export const RUN_EXPORT_ROUTES: readonly ServiceRoute[] = [readRunPage];
