/** What other packages may use of `@metier/service`. */
export { startLocalService } from "./local/start-local-service.ts";
