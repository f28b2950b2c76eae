import type { UpstreamRequest } from '#core/agents/adapter.ts'

/** Creates a POST request with a JSON body. */
export function jsonPost(
  url: string,
  credentials: Readonly<Record<string, string>>,
  body: object,
): UpstreamRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...credentials },
    body: JSON.stringify(body),
  }
}
