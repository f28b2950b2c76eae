import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
} from 'node:http'
import { json } from 'node:stream/consumers'
import { asRecord, type JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'

/** A request as LangGraph's server gets it. */
export interface UpstreamRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body?: JsonRecord
  /** Aborts the request, and with it the reply. */
  readonly signal?: AbortSignal
}

/** LangGraph's server, as the server in front of it sees it. */
export class Upstream {
  readonly #origin: string
  readonly #key: string
  // One connection for each request, so that none is sent over one that LangGraph is closing.
  readonly #agent = new Agent({ keepAlive: false })

  constructor(origin: string, key: string) {
    this.#origin = origin
    this.#key = key
  }

  /** Resolves with the head of the reply, whose body is still to be read. */
  send({ method, path, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> {
    const content = body === undefined ? '' : JSON.stringify(body)
    const sent: OutgoingHttpHeaders = {
      ...withoutHops(headers),
      ...(headers.host !== undefined && { 'x-forwarded-host': headers.host }),
      ...(body !== undefined && { 'content-length': Buffer.byteLength(content) }),
    }
    const url = new URL(path, this.#origin)
    const agent = this.#agent
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { method, agent, headers: sent, ...(signal && { signal }) }, resolve)
      outgoing.once('error', reject)
      outgoing.end(content)
    })
  }

  /** Makes a call of its own. Returns undefined unless the reply is a JSON object and no error. */
  async call(method: string, path: string, body?: JsonRecord): Promise<JsonRecord | undefined> {
    const headers = { 'x-api-key': this.#key, ...(body && { 'content-type': 'application/json' }) }
    const reply = await this.send({ method, path, headers, ...(body && { body }) })
    const isGood = (reply.statusCode ?? 500) < 300 && reply.headers['content-type']?.includes('json')
    if (isGood) return asRecord(await json(reply))
    reply.resume()
    return undefined
  }
}

/** Headers that belong to one connection, or to the body as it was received. */
const HOPS = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'expect', 'upgrade']

export function withoutHops(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOPS.includes(name)))
}
