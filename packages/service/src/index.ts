/** What other packages may use of `@metier/service`. */
export { type LocalServiceOptions, startLocalService } from "./local/start-local-service.ts";
export { openFolderShelf } from "./shelf/folder-shelf.ts";
export { type RunningService, type ServiceOptions, startService } from "./start-service.ts";
