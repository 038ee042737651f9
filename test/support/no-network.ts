/** Tests talk to loopback only: any other address is a fault of the test. */
const realFetch = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : String(input));
  if (!["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) {
    throw new Error(`A test tried to reach ${url.hostname}; only loopback is allowed.`);
  }
  return realFetch(input, init);
};
