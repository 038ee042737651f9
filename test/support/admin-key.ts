/** The key that a service of the tests starts with. */
export const ADMIN_KEY = "an-admin-key-for-tests-only";
