/** What other packages may use of `@metier/service`. */
export { openFolderShelf } from "./shelf/folder-shelf.ts";
export { type RunningService, type ServiceOptions, startService } from "./start-service.ts";
