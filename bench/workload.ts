/** One call as both servers get it; the pass-through hands the body on, whatever the path. */
export interface Call {
  readonly path: string
  readonly body: string
  /** How a complete reply ends. */
  readonly ending: string
}

/** The mock platform looks for this word, and leaves such a stream open after its first chunk. */
export const HANG = 'hang-after-the-first-chunk'

/** Writes of the mock platform a stream. */
export const CHUNKS_PER_STREAM = 200

export const JSON_CALL = completion({ stream: false })
export const STREAM_CALL = completion({ stream: true })
export const HANGING_CALL = completion({ stream: true, query: HANG })

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
