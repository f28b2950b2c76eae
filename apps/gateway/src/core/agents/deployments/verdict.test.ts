import { describe, expect, test } from 'vitest'
import type { Failure } from '#core/agents/events.ts'
import { BUILT_IN } from '#core/agents/registry.ts'
import {
  agentOf,
  callOf,
  read,
  transcriptNamed,
  transcriptsOf,
} from '#core/agents/transcripts.test-support.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import { verdictOf } from './verdict.ts'

const noHeader = () => undefined

test.each<[Failure['reason'], number | undefined, string]>([
  ['agent_unreachable', undefined, 'unreachable'],
  ['agent_timeout', undefined, 'failed'],
  // Headers or pings have come, and no event.
  ['agent_timeout', 200, 'failed'],
  ['agent_truncated', undefined, 'failed'],
  ['agent_truncated', 200, 'failed'],
  ['agent_malformed', 200, 'failed'],
  ['agent_error', 500, 'failed'],
  ['agent_error', 504, 'failed'],
  ['agent_error', 200, 'works'],
  ['agent_error', 400, 'works'],
  // What is no JSON of the platform, such as a refusal whose encoding cannot be read.
  ['agent_malformed', 400, 'none'],
  ['agent_truncated', 404, 'none'],
  ['agent_timeout', 403, 'none'],
  ['agent_malformed', 500, 'failed'],
  ['agent_credentials', 401, 'credential'],
  ['agent_quota', 200, 'credential'],
  ['agent_rate_limited', 500, 'credential'],
  ['agent_rejected_input', 400, 'works'],
  ['agent_misconfigured', 404, 'works'],
  ['agent_misconfigured', 308, 'none'],
  ['agent_empty_reply', 200, 'works'],
  ['content_filtered', 400, 'works'],
  ['app_not_found', 500, 'works'],
  ['conversation_not_found', 404, 'works'],
  // The gateway's own refusals.
  ['conversation_busy', undefined, 'none'],
  ['draining', 200, 'none'],
  ['internal_error', undefined, 'none'],
])('%s with status %s: %s', (reason, httpStatus, verdict) => {
  expect(verdictOf({ failure: { reason }, httpStatus })).toBe(verdict)
})

test('an attempt that the client or the gateway has ended says nothing', () => {
  expect(verdictOf({ failure: undefined, httpStatus: 200 })).toBe('none')
})

test('a time limit that passes before the request is begun tells that there is no connection', () => {
  const judge = (wasBegun: boolean) =>
    verdictOf({ failure: UpstreamError.timeout(wasBegun).failure, httpStatus: undefined })
  expect([judge(false), judge(true)]).toEqual(['unreachable', 'failed'])
})

test('a call before the chat is judged by the status that its failure carries', () => {
  const judge = (failure: Failure) => verdictOf({ failure, httpStatus: undefined })
  expect(judge({ reason: 'agent_error', platformStatus: 503 })).toBe('failed')
  expect(judge({ reason: 'agent_rejected_input', platformStatus: 413 })).toBe('works')
  expect(judge(new UpstreamError('agent_truncated').failure)).toBe('failed')
})

test('the status of the response counts, not the one that an error event names', () => {
  const failure = { reason: 'agent_error', platformStatus: 500 } as const
  expect(verdictOf({ failure, httpStatus: 200 })).toBe('works')
})

describe.each(BUILT_IN.map((adapter) => [adapter.platform, adapter] as const))('%s', (platform, adapter) => {
  const judge = (failure: Failure, httpStatus: number) => verdictOf({ failure, httpStatus })

  test('a refusal says something about the deployment only if it is JSON, also in a list', () => {
    for (const status of [400, 403, 404, 413, 422]) {
      for (const body of ['<html>', '404 page not found', '', null]) {
        expect(judge(adapter.toFailure(status, body, noHeader), status)).toBe('none')
      }
      for (const body of [{ message: 'no' }, [{ error: { message: 'no' } }]]) {
        expect(judge(adapter.toFailure(status, body, noHeader), status)).toBe('works')
      }
    }
    expect(judge(adapter.toFailure(401, '', noHeader), 401)).toBe('rest')
    expect(judge(adapter.toFailure(429, '<html>', noHeader), 429)).toBe('rest')
  })

  test('a page instead of the API is a failure of the deployment, unless its status is that of a refusal', () => {
    const [event] = read(adapter, callOf(agentOf(platform)), {
      ...transcriptNamed('generic/html-502.txt'),
      http_status: 200,
    })
    if (event?.type !== 'error') throw new Error('the page is no error')
    expect(judge(event.failure, 200)).toBe('failed')
    for (const status of [500, 502, 503]) {
      expect(judge(adapter.toFailure(status, '<html>', noHeader), status)).toBe('failed')
    }
  })

  test('no refusal that was recorded counts as a failure of the deployment', () => {
    const replies = transcriptsOf(platform).filter(({ outcome }) => outcome !== 'aux')
    const refusals = replies.flatMap((transcript) => {
      const [first] = read(adapter, callOf(agentOf(platform)), transcript)
      // A server that says by its status that it has failed itself refuses nothing.
      const isOwn = transcript.http_status >= 500
      return first?.type === 'error' && !(isOwn && first.failure.reason === 'agent_error')
        ? [{ transcript, failure: first.failure }]
        : []
    })
    expect(refusals).not.toEqual([])
    for (const { transcript, failure } of refusals) {
      expect(judge(failure, transcript.http_status), transcript.name).not.toBe('failed')
    }
  })
})
