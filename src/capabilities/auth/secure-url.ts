/** Addresses that secrets may be sent to and users may sign in at: encrypted on the way, or never leaving this machine. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export function isSecureUrl({ protocol, hostname, username, password }: URL): boolean {
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
}
