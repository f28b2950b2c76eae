import { type FieldPath, joinPath, type NameField } from '#core/base/values/field-path.ts'
import type { LimitName, LimitReached } from './limit-names.ts'

/**
 * The one error table. REST, the OpenAI-compatible face, GraphQL, the SDK's classes and the documentation derive from it:
 * reason → HTTP status, whether repeating the same call can help, and the public text (`msg`).
 */
export interface ErrorSpec {
  readonly status: number
  /** Whether the same request may succeed later without being changed. */
  readonly retryable: boolean
  /** Sent to every client, so it must not reveal anything about the installation. */
  readonly text: string
  /** What helps, which is the detail where nothing more is known. */
  readonly next?: string
  /**
   * Whether the reason may be shown to the visitor of a page whose chat goes through the server of an integrator: only what the
   * visitor caused or can wait for. All others concern that server and its key alone. The SDK's `toResponse()` has a list of these.
   */
  readonly isForVisitors?: true
}

export const ERRORS = {
  invalid_request: { status: 400, retryable: false, text: 'The request is not valid.' },
  invalid_json: { status: 400, retryable: false, text: 'The body is not valid JSON.' },
  document_malformed: { status: 400, retryable: false, text: 'The GraphQL document cannot be parsed.' },
  document_invalid: { status: 400, retryable: false, text: 'The GraphQL document does not fit the schema.' },
  operation_too_large: { status: 400, retryable: false, text: 'The GraphQL operation asks for too much.' },
  invalid_host: { status: 400, retryable: false, text: 'The Host header is not valid.' },
  unknown_agent: { status: 400, retryable: false, text: 'The Agent header names no configured agent.' },
  app_id_required: { status: 400, retryable: false, text: 'This agent needs the id of an app in app_id.' },
  conversation_id_required: {
    status: 400,
    retryable: false,
    text: 'This agent needs a real value in conversation_id.',
  },
  agent_rejected_input: {
    status: 400,
    retryable: false,
    text: 'The agent platform refused the input.',
    isForVisitors: true,
  },
  previous_response_not_found: {
    status: 400,
    retryable: false,
    text: 'The conversation cannot be continued from this response.',
  },
  content_filtered: {
    status: 400,
    retryable: false,
    text: 'The agent platform refused the content.',
    isForVisitors: true,
  },

  not_supported_by_agent: {
    status: 400,
    retryable: false,
    text: 'This agent cannot do that.',
  },

  answer_required: {
    status: 400,
    retryable: false,
    text: 'The agent waits for the answer to its question.',
    isForVisitors: true,
  },

  credential_missing: {
    status: 401,
    retryable: false,
    text: 'A credential is required.',
    next: 'send `Authorization: Bearer` with an API key, which begins with tl_, or with an access token of POST /api/v1/login.',
  },
  credential_malformed: {
    status: 401,
    retryable: false,
    text: 'The credential is malformed.',
    next: 'an API key is tl_ and 49 letters and digits; an access token comes from POST /api/v1/login and has two dots.',
  },
  api_key_required: {
    status: 401,
    retryable: false,
    text: 'This operation takes an API key.',
    next: 'an API key begins with tl_; POST /api/v1/api-keys makes one with an access token.',
  },
  access_token_required: {
    status: 401,
    retryable: false,
    text: 'This operation takes an access token.',
    next: 'POST /api/v1/login returns one for a username and a password.',
  },
  key_unknown: { status: 401, retryable: false, text: 'This API key does not exist.' },
  key_expired: { status: 401, retryable: false, text: 'This API key has expired.' },
  key_revoked: { status: 401, retryable: false, text: 'This API key was revoked.' },
  key_rotated: {
    status: 401,
    retryable: false,
    text: 'This secret of the API key was replaced.',
    next: 'send the secret that the last rotation of the key has returned.',
  },
  owner_suspended: { status: 401, retryable: false, text: 'The owner of this credential is suspended.' },
  token_invalid: { status: 401, retryable: false, text: 'The access token is not valid.' },
  token_expired: { status: 401, retryable: false, text: 'The access token has expired.' },
  token_revoked: { status: 401, retryable: false, text: 'The access token is no longer valid.' },
  login_failed: { status: 401, retryable: false, text: 'The username or the password is wrong.' },

  permission_denied: { status: 403, retryable: false, text: 'The API key lacks the permission for this.' },
  document_not_trusted: {
    status: 403,
    retryable: false,
    text: 'This gateway executes only the documents that its operator trusts.',
  },
  role_denied: { status: 403, retryable: false, text: "The user's role does not allow this." },
  key_paused: {
    status: 403,
    retryable: false,
    text: 'This API key is paused.',
    next: 'the creator of the key or an administrator can lift the pause.',
  },
  address_denied: {
    status: 403,
    retryable: false,
    text: 'This API key may not be used from this network address.',
  },
  agent_denied: { status: 403, retryable: false, text: 'The API key may not use this agent.' },

  route_not_found: { status: 404, retryable: false, text: 'There is nothing at this path.' },
  user_not_found: { status: 404, retryable: false, text: 'This user does not exist.' },
  key_not_found: { status: 404, retryable: false, text: 'This API key does not exist.' },
  model_not_found: { status: 404, retryable: false, text: 'This model does not exist.' },
  app_not_found: { status: 404, retryable: false, text: 'This app does not exist.' },
  call_not_found: { status: 404, retryable: false, text: 'This call does not exist.' },
  object_not_found: { status: 404, retryable: false, text: 'There is no object with this id.' },
  upload_not_found: { status: 404, retryable: false, text: 'This upload does not exist.' },
  conversation_not_found: { status: 404, retryable: false, text: 'This conversation does not exist.' },

  document_not_found: { status: 404, retryable: false, text: 'No document with this hash is known.' },
  method_not_allowed: { status: 405, retryable: false, text: 'This path does not take this method.' },

  not_acceptable: { status: 406, retryable: false, text: 'No accepted media type can carry the result.' },

  websocket_not_supported: { status: 426, retryable: false, text: 'This path is not served by WebSocket.' },

  username_taken: { status: 409, retryable: false, text: 'This username is taken.' },
  too_many_keys: { status: 409, retryable: false, text: 'This user has too many active API keys.' },
  key_ended: {
    status: 409,
    retryable: false,
    text: 'The API key was revoked or has expired.',
    next: 'a new `expires_at` makes an expired key usable again; a revoked one stays revoked.',
  },
  rotation_pending: {
    status: 409,
    retryable: false,
    text: 'The secret before the present one can still be used.',
    next: 'wait until it ends, or rotate with an overlap of 0 seconds, which ends it now.',
  },
  upgrade_pending: {
    status: 409,
    retryable: false,
    text: 'A process of an older version is running that does not know this.',
    next: 'replace all processes by this version, then send the request again.',
  },
  last_admin: { status: 409, retryable: false, text: 'The last active administrator must stay one.' },
  conversation_busy: {
    status: 409,
    retryable: true,
    text: 'Another call is running in this conversation.',
    isForVisitors: true,
  },
  pause_over: {
    status: 409,
    retryable: false,
    text: 'The question of the agent can no longer be answered.',
    isForVisitors: true,
  },
  stopped: { status: 409, retryable: false, text: 'The call was stopped.' },

  reply_gone: { status: 410, retryable: false, text: 'The reply of this call is not kept any more.' },

  body_too_large: { status: 413, retryable: false, text: 'The body is too large.' },
  upload_space_used_up: {
    status: 413,
    retryable: false,
    text: 'The uploads of this user take all the space that they may.',
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    text: 'This content type, encoding or charset is not accepted.',
  },
  file_type_not_accepted: { status: 415, retryable: false, text: 'This type of file is not accepted.' },
  idempotency_mismatch: {
    status: 422,
    retryable: false,
    text: 'The Idempotency-Key was used for another request.',
  },
  configuration_invalid: {
    status: 422,
    retryable: false,
    text: 'The configuration file of the gateway cannot be used.',
  },
  headers_too_large: { status: 431, retryable: false, text: 'The request headers are too large.' },

  too_many_new_keys: {
    status: 429,
    retryable: false,
    text: 'Too many API keys were made for this user today.',
  },
  rate_limited: { status: 429, retryable: true, text: 'The rate limit is exceeded.', isForVisitors: true },
  quota_exceeded: { status: 429, retryable: false, text: 'The call quota of this user is used up.' },
  agent_rate_limited: {
    status: 429,
    retryable: true,
    text: 'The agent platform is busy.',
    isForVisitors: true,
  },

  internal_error: { status: 500, retryable: false, text: 'An internal error happened.' },

  agent_credentials: {
    status: 502,
    retryable: false,
    text: "The agent platform refused the gateway's credentials.",
  },
  agent_quota: {
    status: 502,
    retryable: false,
    text: "The gateway's quota at the agent platform is used up.",
  },
  agent_misconfigured: { status: 502, retryable: false, text: 'The agent is not set up correctly.' },
  agent_error: { status: 502, retryable: false, text: 'The agent platform failed.' },
  agent_malformed: { status: 502, retryable: false, text: 'The agent platform sent an unreadable reply.' },
  agent_truncated: { status: 502, retryable: false, text: "The agent platform's reply broke off." },
  agent_empty_reply: { status: 502, retryable: false, text: 'The agent platform sent an empty reply.' },
  agent_requires_action: {
    status: 502,
    retryable: false,
    text: 'The agent waits for the output of a tool that no client can give.',
  },
  interrupted: {
    status: 502,
    retryable: false,
    text: 'The gateway process that ran the call has ended.',
    isForVisitors: true,
  },
  agent_unreachable: { status: 502, retryable: true, text: 'The agent platform did not answer.' },
  agent_timeout: {
    status: 504,
    retryable: false,
    text: 'The agent platform took too long.',
    isForVisitors: true,
  },

  agent_unavailable: {
    status: 503,
    retryable: true,
    text: 'No deployment of the agent can take the call now.',
    isForVisitors: true,
  },
  agent_overloaded: {
    status: 503,
    retryable: true,
    text: 'The agent serves as many calls as it may.',
    isForVisitors: true,
  },
  draining: { status: 503, retryable: true, text: 'The gateway is shutting down.', isForVisitors: true },
  unavailable: {
    status: 503,
    retryable: true,
    text: 'A part that this call needs is not available.',
    isForVisitors: true,
  },
} as const satisfies Record<string, ErrorSpec>

export type ErrorReason = keyof typeof ERRORS

/** What is wrong, as a whole sentence. A function receives the face's naming, for sentences that mention other fields. */
export type DetailText = string | ((nameOf: NameField) => string)

/** An input that is not valid, in core's names, and what is wrong with it. */
export interface Mistake {
  readonly field: FieldPath
  readonly text: DetailText
}

/** How much a request that is too large asks for, and how much it may. */
export interface Cost {
  /** A text, `more than <n>`, where the count ended at n. */
  readonly requested: number | `more than ${number}`
  readonly allowed: number
}

/** The most mistakes that one response names; the search for more ends there. */
export const MISTAKES_MAX = 50

export interface ProblemOptions {
  /** The input field that is not valid, in core's names; each face renders it in its own notation. */
  readonly field?: FieldPath | undefined
  /** The mistakes in other fields of the same request. */
  readonly others?: readonly Mistake[] | undefined
  /** What was expected, for the client. It must not contain a secret or a platform's raw body. */
  readonly detail?: DetailText | undefined
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined
  /** Whether repeating the same request would only return the same failure, although its reason is one that passes. */
  readonly isFinal?: boolean | undefined
  /** What a refusal for size is about. */
  readonly cost?: Cost | undefined
  /** What refuses the request; every `rate_limited` and `unavailable` names it. It is for the operator, and sent to no client. */
  readonly limit?: LimitName | undefined
  /** What the limit allows, if it is one on requests in a time. */
  readonly reached?: LimitReached | undefined
  readonly cause?: unknown
}

/** Whose request was refused, and which agent it named, as far as core knows. */
export interface RefusedRequester {
  readonly keyId?: string | undefined
  readonly ownerId?: string | undefined
  /** As the request named it, which may be no agent of the configuration. */
  readonly agent?: string | undefined
}

/** The limits that a reason stands for by itself. */
const OWN_LIMIT: Partial<Record<ErrorReason, LimitName>> = {
  quota_exceeded: 'quota',
  agent_overloaded: 'agent_slots',
  upload_space_used_up: 'upload_space',
  operation_too_large: 'operation_size',
  draining: 'draining',
  rate_limited: 'other',
  unavailable: 'other',
}

/** An error with a reason from {@link ERRORS}. Faces translate no other error; `problemOf` converts everything else to one. */
export class Problem extends Error {
  readonly reason: ErrorReason
  readonly status: number
  readonly field: FieldPath | undefined
  /** The field and what is wrong with it, in core's own names, as the log shows it. Faces use {@link describe}. */
  readonly detail: string
  readonly retryAfterSeconds: number | undefined
  /** Whether repeating the same request would only return the same failure, although its reason is one that passes. */
  readonly isFinal: boolean
  readonly cost: Cost | undefined
  readonly limit: LimitName | undefined
  readonly reached?: LimitReached | undefined
  /** Every input that is known to be at fault, that of {@link field} first; empty if the problem is about no field. */
  readonly mistakes: readonly Mistake[]
  readonly #text: DetailText
  #refused: RefusedRequester = {}

  constructor(reason: ErrorReason, options: ProblemOptions = {}) {
    super(ERRORS[reason].text, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Problem'
    this.reason = reason
    this.status = ERRORS[reason].status
    this.field = options.field
    this.retryAfterSeconds = options.retryAfterSeconds
    this.isFinal = options.isFinal ?? false
    this.cost = options.cost
    this.limit = options.limit ?? OWN_LIMIT[reason]
    this.reached = options.reached
    const { text, next = text }: ErrorSpec = ERRORS[reason]
    this.#text = options.detail ?? next
    const { field, others = [] } = options
    this.mistakes = field === undefined ? [] : [{ field, text: this.#text }, ...others].slice(0, MISTAKES_MAX)
    this.detail = this.describe(joinPath)
  }

  /** The same problem at another field, for callers that know where the value came from. */
  at(field: FieldPath): Problem {
    return this.replaced({ field, text: this.#text }, this.mistakes.slice(1))
  }

  /** The same problem with these mistakes, for callers that name fields in another way. */
  replaced({ field, text }: Mistake, others: readonly Mistake[]): Problem {
    const { reason, retryAfterSeconds, limit, reached } = this
    const options = { field, detail: text, others, retryAfterSeconds, limit, reached, cause: this }
    return new Problem(reason, options).refusing(this.#refused)
  }

  /**
   * The same problem with the mistakes of others; of those in the same field the first is kept. Where the reasons differ, none of
   * them describes the request, so that it becomes `invalid_request`.
   */
  with(problems: readonly Pick<Problem, 'reason' | 'mistakes'>[]): Problem {
    const { field, retryAfterSeconds, limit, reached, cause } = this
    const reason = problems.every((other) => other.reason === this.reason) ? this.reason : 'invalid_request'
    const byField = new Map<string, Mistake>()
    for (const mistake of [...this.mistakes, ...problems.flatMap(({ mistakes }) => mistakes)]) {
      const name = joinPath(mistake.field)
      if (!byField.has(name)) byField.set(name, mistake)
    }
    const others = [...byField.values()].slice(1)
    const options = { field, detail: this.#text, others, retryAfterSeconds, limit, reached, cause }
    return new Problem(reason, options).refusing(this.#refused)
  }

  /** Whose request was refused before it became a call; empty if the code that threw this did not know. */
  get refused(): RefusedRequester {
    return this.#refused
  }

  /** Notes whose request this refuses, for the log and the record of refusals. What is known already stays. */
  refusing(requester: RefusedRequester): this {
    this.#refused = { ...requester, ...this.#refused }
    return this
  }

  /** Returns the detail with every field named as the face names it. */
  describe(nameOf: NameField): string {
    const text = typeof this.#text === 'string' ? this.#text : this.#text(nameOf)
    return this.field === undefined ? text : `${nameOf(this.field)}: ${text}`
  }
}

/** @throws Problem always; a string is the `detail` */
export function fail(reason: ErrorReason, options?: ProblemOptions | string): never {
  throw new Problem(reason, typeof options === 'string' ? { detail: options } : options)
}

/** @throws Problem `invalid_request` always, for a field that breaks a rule */
export function refuseField(field: FieldPath, detail: DetailText, cause?: unknown): never {
  throw new Problem('invalid_request', { field, detail, cause })
}
