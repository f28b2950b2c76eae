/** One call as both servers get it; the pass-through hands the body on, whatever the path. */
export interface Call {
  readonly path: string
  readonly body: string
  /** How a complete reply ends. */
  readonly ending: string
}

/** The mock platform looks for this, and leaves such a stream open. */
export const PACE = 'a-chunk-now-and-then'
/**
 * Of the streams that stay open, so many of a server talk at a time: 2,500 chunks a second. More would fill the core, and
 * chunks would be read several at a time, which costs less and is not what the pace of a model looks like.
 */
export const TALKING = 250
/** A stream gets so many chunks before it is another's turn. All streams of a server have had theirs before it sends a keep-alive. */
export const BURST_CHUNKS = 3
export const CHUNK_APART_MS = 100
/** The pass-through hands on the model that the client names. */
export const GATEWAYS_MODEL = 'bench-1'

/** Writes of the mock platform a stream. */
export const CHUNKS_PER_STREAM = 200

export const JSON_CALL = completion({ stream: false })
export const STREAM_CALL = completion({ stream: true })
export const PACED_CALL = completion({ stream: true, query: PACE })

/** What the platform does not do, the gateway does here beside the rest: it keeps the turn of the conversation. */
export const KEPT_CALL: Call = {
  path: '/api/v1/chat',
  body: JSON.stringify({
    app_id: '',
    chat_id: '',
    stream: false,
    detail: false,
    query: 'What is a trunk line?',
    conversation_id: '',
    files: [],
  }),
  ending: '}',
}

function completion({ stream, query = 'What is a trunk line?' }: { stream: boolean; query?: string }): Call {
  return {
    path: '/api/v1/chat/completions',
    body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: query }], stream }),
    ending: stream ? 'data: [DONE]\n\n' : '}',
  }
}
