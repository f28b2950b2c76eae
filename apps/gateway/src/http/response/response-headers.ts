/** What the API document says of each response header. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description:
      'The id of this request: the one that the caller sent, if it is a plain token of at most 128 characters, or else a new one.',
    type: 'string',
  },
  'X-Should-Retry': {
    description: '`true` if the same request may succeed later, or else `false`.',
    type: 'string',
  },
  'WWW-Authenticate': { description: 'The expected scheme, always `Bearer`.', type: 'string' },
  'Retry-After': {
    description: 'The number of seconds to wait before a retry, if it is known.',
    type: 'integer',
  },
  'RateLimit-Policy': {
    description: 'The limit that applies: `"<name>";q=<requests>;w=<window in seconds>`.',
    type: 'string',
  },
  RateLimit: {
    description:
      'What is left of the limit: `"<name>";r=<remaining requests>;t=<seconds until the limit is full again>`.',
    type: 'string',
  },
  'X-Call-Id': {
    description: 'The id under which the ledger (`GET /api/v1/calls`) records this call.',
    type: 'string',
  },
  'X-Conversation-Id': {
    description:
      'The id of the conversation, to be sent with its next message. It is percent-encoded (UTF-8) where it contains a `%` or anything but printable ASCII.',
    type: 'string',
  },
  'Idempotent-Replayed': {
    description: '`true` if the call had ended before, and this is its stored reply.',
    type: 'string',
  },
  'X-Dropped-Tools': {
    description:
      'The kinds of tools of the request that were left out, percent-encoded, with a comma between them.',
    type: 'string',
  },
  'X-History': {
    description:
      '`last-message` if only the last message of the user was sent on, because the agent remembers the conversation; absent otherwise.',
    type: 'string',
  },
} as const

export type ResponseHeader = keyof typeof RESPONSE_HEADERS

/**
 * A route names in its schema the headers that any of its responses carries once their values are known, errors included:
 * `'x-response-headers': LIMIT_HEADERS`. The API document describes them and omits the keyword.
 */
export const LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const satisfies ResponseHeader[]

export const CALL_HEADERS = [
  'X-Call-Id',
  'X-Conversation-Id',
  ...LIMIT_HEADERS,
] as const satisfies ResponseHeader[]

/** Of routes that take an `Idempotency-Key`. */
export const KEPT_CALL_HEADERS = [...CALL_HEADERS, 'Idempotent-Replayed'] as const satisfies ResponseHeader[]
