import { randomBytes } from 'node:crypto'
import type { ErrorKind } from '../replies/faults.ts'
import { type Answer, json } from '../serving/answer.ts'

/** `cloud`: coze.com and coze.cn; `studio`: the self-hosted coze-studio. */
export type CozeDialect = 'cloud' | 'studio'

export interface CozeError {
  readonly code: number
  readonly msg: string
}

type CozeErrors = Readonly<Record<ErrorKind, CozeError>>

const cloud: CozeErrors = {
  credentials: { code: 4100, msg: 'authentication is invalid' },
  quota: { code: 4019, msg: 'Insufficient account balance.' },
  'rate-limit': { code: 4020, msg: 'Your request has exceeded the RPM limit.' },
  busy: { code: 4016, msg: 'Conversation occupied: the conversation is currently processing another chat.' },
  'not-found': { code: 4002, msg: 'The conversation does not exist.' },
  'app-not-found': {
    code: 4200,
    msg: 'Requested resource with requested ID does not exist or you do not have permission to access it.',
  },
  rejected: { code: 4000, msg: 'Request parameter error' },
  filtered: { code: 4105, msg: 'The message contains sensitive content.' },
  misconfigured: { code: 4015, msg: 'The bot_id has not been published to the channel Agent As API.' },
  server: { code: 5000, msg: 'internal error' },
}

const internal = { code: 500, msg: 'internal server error' }

/** coze-studio has no balance, limits or moderation and reports these as an internal error. */
const studio: CozeErrors = {
  credentials: { code: 700012006, msg: 'authentication failed: api key invalid' },
  quota: internal,
  'rate-limit': internal,
  busy: internal,
  'not-found': { code: 103000002, msg: 'code=103000002 message=conversation not found' },
  'app-not-found': { code: 103100002, msg: 'code=103100002 message=agent not found' },
  rejected: { code: 400, msg: 'invalid parameter : additional_messages' },
  filtered: internal,
  misconfigured: { code: 103000001, msg: 'code=103000001 message=no permission' },
  server: internal,
}

export const cozeErrors: Readonly<Record<CozeDialect, CozeErrors>> = { cloud, studio }

/**
 * Errors have status 200 even on a streaming call; only coze-studio's codes 400 and 500 are also the status.
 */
export function cozeRefusal(dialect: CozeDialect, error: CozeError): Answer {
  if (dialect === 'studio') return json(error.code < 1_000 ? error.code : 200, error)
  const logid = `${new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)}${randomBytes(9).toString('hex').toUpperCase()}`
  return json(200, { ...error, detail: { logid } }, { 'x-tt-logid': logid })
}

export function cozeData(data: unknown): Answer {
  return json(200, { code: 0, msg: '', data })
}
