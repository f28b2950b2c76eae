import type { EmulatorName } from '../replies/faults.ts'
import { type Answer, Refusal } from '../serving/answer.ts'
import type { RequestContext } from '../serving/http-server.ts'
import { difyError, difyErrors, difyJson } from './errors.ts'

// A key identifies an app, and thereby its kind.
export const KEYS = {
  chat: 'app-sandbox-chat',
  agent: 'app-sandbox-agent',
  newAgent: 'app-sandbox-new-agent',
  chatflow: 'app-sandbox-chatflow',
  chatflow2026: 'app-sandbox-chatflow-2026',
  completion: 'app-sandbox-completion',
  workflow: 'app-sandbox-workflow',
} as const

export type Kind = keyof typeof KEYS
export type Route = 'chat' | 'completion' | 'workflow'

export const MODES: Readonly<Record<Kind, string>> = {
  chat: 'chat',
  agent: 'agent-chat',
  newAgent: 'agent',
  chatflow: 'advanced-chat',
  chatflow2026: 'advanced-chat',
  completion: 'completion',
  workflow: 'workflow',
}

/** Users of the same name are different users in different apps. */
export function endUser(kind: Kind, user: string): string {
  return `${kind} ${user}`
}

export const USER_MISSING = difyError(400, 'invalid_param', 'Arg user must be provided.')

export function appOf({ headers }: RequestContext): Kind {
  const [scheme, key] = headers.authorization?.split(' ') ?? []
  const app = Object.entries(KEYS).find(([, known]) => known === key)
  if (scheme?.toLowerCase() !== 'bearer' || !app) throw new Refusal(difyErrors.credentials)
  return app[0] as Kind
}

function routeOf(kind: Kind): Route {
  return kind === 'completion' || kind === 'workflow' ? kind : 'chat'
}

export function checkRoute(kind: Kind, route: Route): void {
  if (routeOf(kind) !== route) throw new Refusal(WRONG_APP[route])
}

function wrongApp(route: Route): Answer {
  return difyError(400, `not_${route}_app`, 'Please check if your app mode matches the right API route.')
}

export const WRONG_APP: Readonly<Record<Route, Answer>> = {
  chat: wrongApp('chat'),
  completion: wrongApp('completion'),
  workflow: wrongApp('workflow'),
}

/** Rejects an empty id as release 1.11.0 does, which is the strictest. */
export function checkUuid(id: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id
  if (id) {
    const message = `${id} is not a valid uuid.`
    throw new Refusal(difyJson(400, { code: 'invalid_param', message, params: 'conversation_id' }))
  }
  throw new Refusal(
    difyError(
      400,
      'invalid_param',
      "1 validation error for ChatRequestPayload\nconversation_id\n  Input should be a valid UUID, invalid length: expected length 32 for simple format, found 0 [type=uuid_parsing, input_value='', input_type=str]",
    ),
  )
}

/** Whether the app is a workflow, which can pause. */
export function hasFlow(kind: Kind): boolean {
  return emulatorOf(kind) !== 'Dify'
}

/** The name by which the words of a query are known to the app. */
export function emulatorOf(kind: Kind): EmulatorName {
  if (kind === 'workflow') return 'Dify workflow'
  return MODES[kind] === 'advanced-chat' ? 'Dify chatflow' : 'Dify'
}
