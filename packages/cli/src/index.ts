/** The exports of `@metier/cli` for other packages. */
export { publishedSchemas } from "./actions/schema.ts";
export { NOTES_FILE, TOUR_SKILL, TOUR_TASK, writeTourProject } from "./actions/tour.ts";
export { COMMANDS } from "./commands/groups.ts";
export { overviewText } from "./output/help-text.ts";
export { manPage } from "./output/man-page.ts";
export { createProgress } from "./output/run-progress.ts";
export { runText, statsText } from "./output/run-text.ts";
export { styleFor } from "./output/style.ts";
export { runCli } from "./run-cli.ts";
