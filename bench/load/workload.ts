/** The call that both servers receive. The pass-through forwards the body whatever the path is. */
export interface Call {
  /** The default is `POST`. */
  readonly method?: 'GET'
  readonly path: string
  readonly body: string
  /** The end of a complete reply. */
  readonly ending: string | RegExp
}

/** The mock platform keeps streams open whose request contains this. */
export const PACE = 'a-chunk-now-and-then'
/**
 * Number of open streams per server that are active at a time: 2,500 chunks a second. More would saturate the core, and
 * several chunks would be read at once, which costs less and does not match the pace of a model.
 */
export const TALKING = 250
/** Number of chunks in a burst. All streams have had a burst before the gateway would send a keep-alive. */
export const BURST_CHUNKS = 3
export const CHUNK_APART_MS = 100
/** The pass-through forwards the model that the client names. */
export const GATEWAYS_MODEL = 'bench-1'

/** Number of writes of the mock platform per stream. */
export const CHUNKS_PER_STREAM = 200

export const JSON_CALL = completion({ stream: false })
export const STREAM_CALL = completion({ stream: true })
export const PACED_CALL = completion({ stream: true, query: PACE })

/** Includes the extra work of the gateway for a platform without conversations: it stores the turn. */
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
