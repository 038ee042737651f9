/** Tests talk to loopback only: any other address is a fault of the test. Files that share a worker share this, too. */
const GUARDED = Symbol.for("metier.test.guarded-fetch");
const realFetch = globalThis.fetch;

function fetchFromLoopback(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : String(input));
  if (!["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) {
    throw new Error(`A test tried to reach ${url.hostname}; only loopback is allowed.`);
  }
  return realFetch(input, init);
}

if (!(GUARDED in realFetch)) globalThis.fetch = Object.assign(fetchFromLoopback, { [GUARDED]: true });
