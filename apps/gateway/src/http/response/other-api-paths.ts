/**
 * Clients of OpenAI's API request paths that this gateway does not have, or are configured with a base URL that is slightly
 * wrong. Their users see only the message of the error, so it says what to use instead.
 */
const WRONG_BASE =
  /^\/(?:(?:api\/)?(?:chat\/completions|models|completions|responses|embeddings)|v1|api\/v1\/(?:api|v1))(?:\/|$)/

/** The hints by the path segment that follows `/api/v1`. */
const HINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    responses:
      'Of the Responses API, only POST /api/v1/responses is served: responses are not kept, so they cannot be read, deleted or cancelled. Closing the connection stops one.',
    completions: 'Text completions are not served; use POST /api/v1/chat/completions.',
    messages: "Anthropic's Messages API is not served; use POST /api/v1/chat/completions.",
    embeddings: 'Embeddings are not served; ask a model server for them.',
    assistants:
      'Assistants are not served; use POST /api/v1/chat/completions with the header X-Conversation-Id.',
    threads: 'Threads are not served; use POST /api/v1/chat/completions with the header X-Conversation-Id.',
    conversations:
      'Conversations need not be created: POST /api/v1/responses continues the one that `conversation` or `previous_response_id` names.',
    files:
      'Use POST /api/v1/upload; its URL, or another public URL, goes into a chat as a content part or in the list files.',
  }),
)

const GENERAL_HINT =
  'Chats are POST /api/v1/chat/completions or POST /api/v1/chat, models GET /api/v1/models; /docs has every route.'

/** What to use instead of an unknown path; empty if the path does not look like one of an API client. */
export function otherApiHint(url: string): string {
  const [path = ''] = url.split('?', 1)
  if (WRONG_BASE.test(path)) return 'The base URL of this API ends in /api/v1.'
  if (!/^\/api(?:\/|$)/.test(path)) return ''
  return otherResourceHint(path) ?? GENERAL_HINT
}

/** What to use instead of a resource of another API, of which this one may have other methods. */
export function otherResourceHint(path: string): string | undefined {
  return HINTS.get(/^\/api\/v1\/([^/?]+)/.exec(path)?.[1] ?? '')
}
