import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Failure } from '#core/agents/events.ts'
import type { CallEvent, CallRecord, Settled } from '#core/calls/call-events.ts'
import { followCalls } from '#core/calls/settle-calls.ts'
import { logCalls, logFilesNotKept } from './call-log.ts'

const CALL: CallRecord = { callId: 'c-1', requestId: 'r-1', kind: 'chat', face: 'rest', agent: 'dify' }

/** The lines that the events of a call become. */
function linesOf(events: readonly CallEvent[], level: 'debug' | 'info' = 'info') {
  const { log, lines } = openLog(level)
  const observe = followCalls([logCalls(log)])
  for (const event of events) observe(event)
  return lines
}

function openLog(level: 'debug' | 'info') {
  const lines: object[] = []
  const formatters = { level: (label: string) => ({ level: label }) }
  const log = pino(
    { level, base: null, timestamp: false, formatters },
    { write: (line) => lines.push(JSON.parse(line)) },
  )
  return { log, lines }
}

const attemptEnded = (attempt: number, deployment: string, failure?: Failure): CallEvent => {
  const turn = failure === undefined ? 'stored' : 'none'
  return {
    type: 'attempt_ended',
    call: CALL,
    attempt,
    deployment,
    platform: 'dify',
    end: {
      deployment,
      startMs: 0,
      durationMs: 5,
      outcome: failure === undefined ? 'done' : 'upstream_error',
    },
    turn,
    isComplete: failure === undefined,
    failure,
    exchange: undefined,
  }
}
const settled = (more: Partial<Settled>): CallEvent => {
  return { type: 'settled', call: CALL, settled: { outcome: 'done', durationMs: 9.4, ...more } }
}

const ATTEMPT = { call: 'c-1', reqId: 'r-1', agent: 'dify' }
const REFUSED: Failure = { reason: 'agent_error', platformStatus: 503, platformCode: 'busy' }

test('an attempt that failed has a line of its own, whether or not the call went well with the next one', () => {
  const events = [attemptEnded(1, 'eu', REFUSED), attemptEnded(2, 'us'), settled({ attempts: 2 })]
  const line = {
    ...ATTEMPT,
    level: 'info',
    msg: 'attempt failed',
    deployment: 'eu',
    attempt: 1,
    turn: 'none',
    reason: 'agent_error',
    platformStatus: 503,
    platformCode: 'busy',
  }
  expect(linesOf(events)).toEqual([line])
})

test('fields that a platform refuses are told with the setting that leaves them out for good', () => {
  const event = {
    type: 'fields_refused',
    call: CALL,
    deployment: 'eu',
    fields: ['stream_options', 'user'],
  } as const
  expect(linesOf([event])).toMatchObject([
    { ...ATTEMPT, level: 'warn', deployment: 'eu', setting: 'omit: [stream_options, user]' },
  ])
})

test('a word for the end that is not known is in the line for debugging', () => {
  const ended = attemptEnded(1, 'eu')
  const exchange = {
    durationMs: 5,
    firstTextMs: 1,
    finishReason: 'stop',
    unknownFinishWord: 'enough',
  } as const
  const unknown = { requestedModel: undefined, model: undefined, usage: undefined }
  if (ended.type !== 'attempt_ended') throw new Error('no attempt')
  expect(linesOf([{ ...ended, exchange: { ...exchange, ...unknown } }], 'debug')).toMatchObject([
    { msg: 'attempt ended', unknownFinishWord: 'enough' },
  ])
})

test('an attempt that went well is logged only for debugging', () => {
  const events = [attemptEnded(1, 'eu'), settled({})]
  expect(linesOf(events)).toEqual([])
  const line = { deployment: 'eu', attempt: 1, turn: 'stored' }
  expect(linesOf(events, 'debug')).toEqual([{ ...ATTEMPT, level: 'debug', msg: 'attempt ended', ...line }])
})

test('the line of a failed call says where it went, how often it was sent and how long it waited before', () => {
  const failed = { outcome: 'upstream_error', failure: REFUSED } as const
  const [line] = linesOf([settled({ ...failed, deployment: 'us', attempts: 2, queuedMs: 250.4 })])
  expect(line).toEqual({
    ...ATTEMPT,
    level: 'warn',
    msg: 'call failed',
    deployment: 'us',
    attempts: 2,
    queuedMs: 250,
    outcome: 'upstream_error',
    reason: 'agent_error',
    platformStatus: 503,
    platformCode: 'busy',
    ms: 9,
  })
  const [unsent] = linesOf([settled(failed)])
  for (const name of ['deployment', 'attempts', 'queuedMs']) expect(unsent).not.toHaveProperty(name)
})

test('a file that was not kept is told with the origin of its URL', () => {
  const { log, lines } = openLog('info')
  const file = { callId: 'c-1', agentId: 'dify', origin: 'https://cdn.example.com', detail: 'it is empty' }
  logFilesNotKept(log)({ ...file, reason: 'empty', cause: undefined })
  logFilesNotKept(log)({ ...file, reason: 'unavailable', cause: new Error('broken') })
  expect(lines).toMatchObject([
    {
      level: 'warn',
      call: 'c-1',
      agent: 'dify',
      reason: 'empty',
      origin: 'https://cdn.example.com',
      msg: 'a file of the agent was not kept: it is empty',
    },
    { reason: 'unavailable', err: { message: 'broken' } },
  ])
  expect(lines[0]).not.toHaveProperty('err')
})
