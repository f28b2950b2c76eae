import { ERRORS, type ErrorReason } from '@trunkline/gateway/src/core/base/errors/errors.ts'
import { ERROR_KINDS, type ErrorKind } from '@trunkline/sandbox'
import { expect } from 'vitest'
import { emulatorOf, type Variant } from '../gateway-with-emulators.ts'
import type { Reply } from '../reply.ts'
import type { Check, Trial } from '../trial.ts'

const KINDS = Object.keys(ERROR_KINDS) as ErrorKind[]

const USUAL: Readonly<Record<ErrorKind, ErrorReason>> = {
  credentials: 'agent_credentials',
  quota: 'agent_quota',
  'rate-limit': 'agent_rate_limited',
  busy: 'conversation_busy',
  'not-found': 'conversation_not_found',
  'app-not-found': 'app_not_found',
  rejected: 'agent_rejected_input',
  filtered: 'content_filtered',
  misconfigured: 'agent_misconfigured',
  server: 'agent_error',
}

/** Sandbox commands that break a reply, with the failure before and after the first text. */
const BREAKS: Readonly<Record<string, ErrorReason>> = {
  html: 'agent_error',
  'html-200': 'agent_error',
  malformed: 'agent_malformed',
  'endless-line': 'agent_malformed',
  truncate: 'agent_truncated',
  reset: 'agent_truncated',
  'error-midstream': 'agent_error',
}
const BEFORE_TEXT = ['html', 'html-200']

export const FAILURES = {
  async 'FAIL-01'(trial) {
    for (const kind of KINDS) {
      const reason = reasonOf(trial, kind)
      for (const reply of await refusals(trial, kind)) {
        expect([kind, reply.status, reply.reason]).toEqual([kind, ERRORS[reason].status, reason])
        expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
        expect(reply.headers.get('x-should-retry')).toBe(String(ERRORS[reason].retryable))
      }
    }
  },

  async 'FAIL-02'(trial) {
    for (const kind of KINDS) {
      for (const { bodies, raw } of await refusals(trial, kind)) {
        const [body] = bodies
        const message = body?.msg ?? body?.error?.message ?? ''
        const reason = reasonOf(trial, kind)
        // The platform's message helps if it rejects the caller's input; otherwise it may disclose keys and hosts.
        if (reason !== 'agent_rejected_input' && reason !== 'content_filtered') {
          expect(message).toBe(ERRORS[reason].text)
        }
        requireNoSecret(trial, raw)
      }
    }
  },

  async 'FAIL-03'(trial) {
    const { refusals: otherwise, retryAfter: wait } = trial.dialect
    if (otherwise['rate-limit'] !== undefined) trial.exempt('it knows no rate limit')
    if (wait === undefined) trial.exempt('its refusals name no time to wait')
    for (const { headers } of await refusals(trial, 'rate-limit'))
      expect(headers.get('retry-after')).toBe(wait)
  },

  async 'FAIL-04'(trial) {
    for (const [word, usual] of Object.entries(BREAKS)) {
      if (trial.dialect.goesOn?.includes(word) === true) continue
      const reason = trial.dialect.breaks[`json ${word}`] ?? usual
      const reply = await trial.ask({ query: `sandbox:${word} Hello` })
      expect([word, reply.status, reply.reason]).toEqual([word, ERRORS[reason].status, reason])
      requireNoSecret(trial, reply.raw)
    }
  },

  async 'FAIL-05'(trial) {
    for (const [word, usual] of Object.entries(BREAKS)) {
      if (trial.dialect.goesOn?.includes(word) === true) continue
      const reason = trial.dialect.breaks[`stream ${word}`] ?? usual
      for (const face of ['rest', 'openai'] as const) {
        const reply = await trial.ask({ face, stream: true, query: `sandbox:${word} Hello` })
        const isRefused = BEFORE_TEXT.includes(word)
        expect([word, reply.status]).toEqual([word, isRefused ? ERRORS[reason].status : 200])
        expect([word, reply.reason]).toEqual([word, reason])
        if (!isRefused) requireBrokenStream(reply)
        requireNoSecret(trial, reply.raw)
      }
    }
  },

  async 'FAIL-06'(trial) {
    for (const stream of [false, true]) {
      const { status, reason, headers } = await trial.ask({ query: 'Hello', variant: 'gone', stream })
      expect([status, reason]).toEqual([502, 'agent_unreachable'])
      expect(headers.get('x-should-retry')).toBe('true')
    }
  },

  async 'FAIL-07'(trial) {
    if (!trial.dialect.hasNodes) trial.exempt('its emulator has no nodes that fail')
    for (const { status, reason } of await trial.everyWay('sandbox:node-failed Hello')) {
      expect([status, reason]).toEqual([502, 'agent_error'])
    }
  },

  async 'FAIL-08'(trial) {
    const { toolOutputWanted: reason } = trial.dialect
    if (reason === undefined) trial.exempt('it asks no client for the output of a tool')
    for (const reply of await trial.everyWay('sandbox:requires-action')) {
      expect([reply.status, reply.reason]).toEqual([502, reason])
    }
  },

  async 'TIME-01'(trial) {
    for (const reply of await bothWays(trial, 'hasty', 'sandbox:hang')) requireTimeout(reply)
  },

  async 'TIME-02'(trial) {
    for (const reply of await bothWays(trial, 'hasty', 'sandbox:pings=20')) requireTimeout(reply)
  },

  async 'TIME-03'(trial) {
    requireTimeout(await trial.ask({ variant: 'hasty', query: 'sandbox:silence Hello' }))
    requireLateTimeout(await trial.ask({ variant: 'idle', query: 'sandbox:silence Hello', stream: true }))
  },

  async 'TIME-04'(trial) {
    const [json, stream] = await bothWays(trial, 'brief', 'sandbox:slow=20 sandbox:long=1000')
    requireTimeout(json)
    requireLateTimeout(stream)
  },
} satisfies Record<string, Check>

function reasonOf({ dialect }: Trial, kind: ErrorKind): ErrorReason {
  return dialect.refusals[kind] ?? USUAL[kind]
}

function refusals(trial: Trial, kind: ErrorKind): Promise<readonly Reply[]> {
  return trial.everyWay(`sandbox:error=${kind} Hello`)
}

async function bothWays(trial: Trial, variant: Variant, query: string): Promise<readonly [Reply, Reply]> {
  return Promise.all([trial.ask({ variant, query }), trial.ask({ variant, query, stream: true })])
}

function requireTimeout({ status, reason }: Reply): void {
  expect([status, reason]).toEqual([504, 'agent_timeout'])
}

function requireLateTimeout(reply: Reply): void {
  expect([reply.status, reply.reason]).toEqual([200, 'agent_timeout'])
  requireBrokenStream(reply)
}

/** Expects some text, then one error frame at the end, no finish reason and no `[DONE]`. */
function requireBrokenStream({ text, bodies, finishes, isDone }: Reply): void {
  expect(text).not.toBe('')
  expect(bodies.filter(({ error }) => error !== undefined)).toEqual([bodies.at(-1)])
  expect(finishes).toEqual([])
  expect(isDone).toBe(false)
}

function requireNoSecret({ dialect, setup }: Trial, raw: string): void {
  const { baseUrl, keys } = emulatorOf(setup.emulators, dialect)
  for (const secret of [new URL(baseUrl).host, '127.0.0.1', '://', '<', ...Object.values(keys)]) {
    expect(raw).not.toContain(secret)
  }
}
