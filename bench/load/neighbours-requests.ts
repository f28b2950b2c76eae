/** What one tenant sends while another one chats. */
export interface NeighbourLoad {
  readonly origin: string
  readonly atOnce: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** For uploads: the size of the file, and what separates the parts of the form. */
  readonly uploadBytes?: number
  readonly boundary?: string
}

interface Tenant {
  readonly origin: string
  readonly token: string
  /** The authorization of its API key. */
  readonly authorization: string
}

const AT_ONCE = 50
const BOUNDARY = 'boundary-of-the-bench'
const UPLOAD_BYTES = 5_000_000

/** With which the other loads are compared: requests that cost the gateway next to nothing. */
export function healthChecks(origin: string): NeighbourLoad {
  return { origin, atOnce: 20, method: 'GET', path: '/healthz', headers: {} }
}

/** By the name that the table has. */
export function loadsOf({ origin, token, authorization }: Tenant): Readonly<Record<string, NeighbourLoad>> {
  const common = { origin, atOnce: AT_ONCE }
  const headers = { authorization: `Bearer ${token}` }
  return {
    'heavy reports': {
      ...common,
      method: 'GET',
      headers,
      path: '/api/v1/usage?group_by=model&granularity=day',
    },
    'pages of calls': { ...common, method: 'GET', headers, path: '/api/v1/calls?limit=100' },
    'uploads of 5 MB': {
      ...common,
      method: 'POST',
      path: '/api/v1/upload',
      headers: { authorization, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      uploadBytes: UPLOAD_BYTES,
      boundary: BOUNDARY,
    },
    'documents of 2,000 tokens': {
      ...common,
      method: 'POST',
      path: '/graphql',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query: DOCUMENT }),
    },
  }
}

/** Is replaced by another number in every request, so that no document is found in a cache. */
export const NUMBER = 'NUMBER'
/** As large as a document may be, with aliases for equal fields. */
const DOCUMENT = `query Q${NUMBER} {${Array.from({ length: 66 }, (_, index) => field(index)).join(' ')}}`

/** 30 tokens. */
function field(index: number): string {
  return `a${index}: me { id username role status apiKeys(first: 5) { totalCount edges { node { id name } } } quota { remaining } }`
}
