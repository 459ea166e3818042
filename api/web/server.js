// Questions to our own API, answered as JSON or with an error that can be shown.

/** A problem the server told us about, or that it could not be reached. */
export class ServerProblem extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} */
export async function fetchJson(path, options = {}) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ServerProblem("The server cannot be reached. Check your connection and try again.");
  }
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const fields = body.errors?.map((each) => `${each.field}: ${each.message}`).join(" ");
  throw new ServerProblem(fields || body.detail || "The server could not answer.", response.status);
}

/** Send a body as JSON. */
export function postJson(path, body, options = {}) {
  const headers = { "Content-Type": "application/json", ...options.headers };
  return fetchJson(path, { ...options, method: "POST", headers, body: JSON.stringify(body) });
}
