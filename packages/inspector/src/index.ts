/** The exports of `@metier/inspector`: the page as files to serve, and as one file to send. */
export { type ExportedView, exportPage } from "./export-page.ts";
export { type PageFile, readPage } from "./read-page.ts";
