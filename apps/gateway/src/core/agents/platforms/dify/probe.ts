import type { Agent, HelperCall } from '#core/agents/adapter.ts'
import { failureOf } from '#core/agents/translate/failure.ts'
import { probeCall } from '#core/agents/translate/helper-call.ts'
import { bearer } from '#core/agents/translate/plain-requests.ts'
import { objectOf, textOf } from '#core/base/values/json.ts'
import { difyRefusal } from './failures.ts'

/** The app kinds (`mode` in the reply to `GET /info`) that each of our modes supports. */
const APP_MODES = {
  chat: ['chat', 'agent-chat', 'advanced-chat', 'agent'],
  completion: ['completion'],
  workflow: ['workflow'],
} as const

/** Asks for the app of the key, which must be of the kind that the entry names. */
export function difyProbe(
  agent: Agent & { readonly options: { readonly mode: keyof typeof APP_MODES } },
): HelperCall<'available' | 'degraded'> {
  const request = { method: 'GET', url: `${agent.apiUrl}/info`, headers: bearer({ agent }) } as const
  const call = probeCall(request, difyRefusal, (body) => typeof body.name === 'string')
  return {
    request,
    read(status, body, header) {
      const mode = textOf(objectOf(body).mode)
      const fits = mode === undefined || APP_MODES[agent.options.mode].some((known) => known === mode)
      return status < 400 && !fits
        ? { failure: failureOf('agent_misconfigured', { status, code: `mode ${mode}` }) }
        : call.read(status, body, header)
    },
  }
}
