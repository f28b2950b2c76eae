import type { ErrorKind } from '../replies/faults.ts'
import type { Answer } from '../serving/answer.ts'

export function difyJson(status: number, value: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: pythonJson(value) }
}

/** Serializes JSON as Python's `json.dumps` does: with a space after each separator, in ASCII only. */
function pythonJson(value: unknown): string {
  return (
    JSON.stringify(value, null, 1)
      // JSON strings contain no raw line breaks, so each one follows a separator or a bracket.
      .replace(/(,)?\n\s*/g, (_whole, comma?: string) => (comma ? ', ' : ''))
      .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  )
}

export function difyError(status: number, code: string, message: string): Answer {
  return difyJson(status, { code, message, status })
}

/**
 * The request validator rejects the call before the service runs, so the body has neither code nor status.
 */
export function missingField(field: string): Answer {
  return difyJson(400, {
    errors: { [field]: 'Missing required parameter in the JSON body or the post body or the query string' },
    message: 'Input payload validation failed',
  })
}

const unauthorized = difyError(401, 'unauthorized', 'Access token is invalid')

export const difyErrors: Readonly<Record<ErrorKind, Answer>> = {
  credentials: {
    ...unauthorized,
    headers: { ...unauthorized.headers, 'www-authenticate': 'Bearer realm="api"' },
  },
  quota: difyError(
    400,
    'provider_quota_exceeded',
    'Your quota for Dify Hosted Model Provider has been exhausted. Please go to Settings -> Model Provider to complete your own provider credentials.',
  ),
  'rate-limit': difyError(
    429,
    'too_many_requests',
    'Too many requests. Please try again later. The current maximum concurrent requests allowed for 7c1a is 10.',
  ),
  busy: difyError(
    400,
    'conversation_completed',
    'The conversation has ended. Please start a new conversation.',
  ),
  'not-found': difyError(404, 'not_found', 'Conversation Not Exists.'),
  'app-not-found': difyError(403, 'forbidden', 'The app no longer exists.'),
  rejected: difyError(
    400,
    'invalid_param',
    'Detected file type does not match the specified type. Please verify the file.',
  ),
  filtered: difyError(
    400,
    'completion_request_error',
    "[openai] Bad Request Error, The response was filtered due to the prompt triggering the provider's content management policy. (content_filter)",
  ),
  misconfigured: difyError(400, 'app_unavailable', 'App unavailable, please check your app configurations.'),
  server: difyError(500, 'internal_server_error', 'Internal Server Error, please contact support.'),
}
