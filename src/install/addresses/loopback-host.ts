/** Whether a URL's host is this machine by its own name: nothing that is sent there leaves it. */

/** `host` as URLs have it: lower case, IPv4 in four parts, IPv6 in brackets. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
