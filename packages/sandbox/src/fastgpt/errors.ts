import type { ErrorKind } from '../replies/faults.ts'
import { type Answer, json } from '../serving/answer.ts'

/** An error of FastGPT; its form on the wire depends on whether the client requested a stream. */
export interface FastGptError {
  readonly status: number
  readonly body: {
    readonly code: number
    readonly statusText: string
    readonly message: string
    readonly data: null
  }
}

/** Named errors carry an i18n key as their message; unnamed ones carry only a text. */
export const known = {
  unAuthorization: named(403, 'unAuthorization', 'common:code_error.error_message.403'),
  unAuthApiKey: named(514, 'unAuthApiKey', 'common:code_error.error_message.514'),
  accountKey: unnamed('Key is error. You need to use the app key rather than the account key.'),
  appIsEmpty: unnamed('app is empty'),
  messagesIsNotArray: unnamed('messages is not array'),
  messagesIsEmpty: unnamed('messages is empty'),
  questionIsEmpty: unnamed('User question is empty'),
  chatItemNotFound: unnamed('Chat item not found'),
  dataIdExists: unnamed('Chat dataId already exists'),
} as const

export const fastGptErrors: Readonly<Record<ErrorKind, FastGptError>> = {
  credentials: known.unAuthApiKey,
  quota: named(500004, 'aiPointsNotEnough', 'common:code_error.team_error.ai_points_not_enough'),
  'rate-limit': unnamed(
    'Rate limit exceeded. Maximum 60 requests per 60 seconds for this team. Please try again in 23 seconds.',
    429,
  ),
  busy: named(409, 'chatIsGenerating', 'common:code_error.chat_error.chat_is_generating', 409),
  'not-found': named(504000, 'unAuthChat', 'common:code_error.chat_error.un_auth'),
  'app-not-found': named(502000, 'appUnExist', 'common:code_error.app_error.not_exist'),
  rejected: unnamed('Invalid input: expected string, received number at "messages[0].content"', 400),
  filtered: unnamed('Your content is not compliant'),
  misconfigured: named(511, 'unAuthModel', 'common:code_error.error_message.511'),
  server: unnamed('Connection error.'),
}

export function jsonError({ status, body }: FastGptError): Answer {
  return json(status, body)
}

/** FastGPT sends such errors before a run sets its headers, so they have status 200 and no content type. */
export function sseError({ body }: FastGptError): Answer {
  return { status: 200, headers: {}, body: errorFrame(body.statusText ? body : { message: body.message }) }
}

export function errorFrame(error: object): string {
  return `event: error\ndata: ${JSON.stringify(error)}\n\n`
}

function named(code: number, statusText: string, message: string, status = 500): FastGptError {
  return { status, body: { code, statusText, message, data: null } }
}

function unnamed(message: string, code = 500): FastGptError {
  return { status: code, body: { code, statusText: '', message, data: null } }
}
