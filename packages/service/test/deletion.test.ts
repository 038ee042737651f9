/** What is deleted is gone from one machine: from its tables and from its files. */
import { describeDeletion } from "./support/describe-deletion.ts";

describeDeletion({ name: "SQLite", dump: async () => "" });
