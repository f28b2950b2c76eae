import type { ChatRequest } from '../generated/wire.ts'
import { LONG_TIMEOUT_MS, type RequestSpec } from '../transport/transport.ts'

/** A message to an agent: the fields of the contract, of which those that may be empty are optional here. */
export type ChatParams = Pick<ChatRequest, 'query'> & {
  [Field in Exclude<keyof ChatRequest, 'query' | 'stream'>]?: ChatRequest[Field] | undefined
} & {
  /** The agent that answers, instead of the client's. */
  agent?: string | undefined
}

/** A message of a whole client, whose call may be kept. */
export type ServerChatParams = ChatParams & {
  /**
   * Keeps the call when its connection is lost: the gateway goes on, and the SDK sends the request again or resumes the stream,
   * without running the agent twice. Leaving the call is then no stop; `abort()`, `stop()` and the signal are.
   */
  keep?: boolean | undefined
  /**
   * The name of a kept call, instead of a random one: 1 to 255 printable ASCII characters. The same request with the same key is
   * the same call, also from another process or after a reload of the page. It implies `keep`.
   */
  idempotencyKey?: string | undefined
}

/** The request of a chat. Every field of the contract is sent, as the gateway requires. */
export function chatRequest(
  clientAgent: string | undefined,
  given: ChatParams,
  stream: boolean,
): RequestSpec {
  // A program in JavaScript may pass none; the gateway then names the fields that it misses.
  const { agent = clientAgent, ...params } = given ?? {}
  const body = {
    app_id: '',
    chat_id: '',
    conversation_id: '',
    detail: false,
    files: [],
    // What is undefined is absent from JSON, so that the default stays.
    ...(JSON.parse(JSON.stringify(params)) as typeof params),
    stream,
  }
  return {
    method: 'POST',
    path: '/chat',
    json: body,
    ...(agent && { headers: { agent } }),
    credential: 'key',
    repeatable: 'advised',
    timeoutMs: LONG_TIMEOUT_MS,
  }
}
