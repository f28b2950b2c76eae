import { describe, expect, test } from 'vitest'
import { ERRORS } from '#core/base/errors/errors.ts'
import { detailsIn } from './chat-events.test-support.ts'
import type { ChatEvent } from './events.ts'
import { PLATFORMS } from './registry.ts'
import {
  adapterOf,
  agentOf,
  callOf,
  cutsOf,
  fold,
  read,
  type Transcript,
  transcriptsOf,
} from './transcripts.test-support.ts'

/** The platforms that use OpenAI's frames, and to which the generic transcripts therefore apply. */
const GENERIC: readonly string[] = ['fastgpt', 'openai']

describe.each(PLATFORMS.names)('%s', (platform) => {
  const adapter = adapterOf(platform)
  const transcripts = [
    ...transcriptsOf(platform),
    ...(GENERIC.includes(platform) ? transcriptsOf('generic') : []),
  ]
  const callFor = ({ name }: Transcript) =>
    callOf(agentOf(platform, name.includes('workflow-run') ? { options: { mode: 'workflow' } } : {}))
  const replies = transcripts.filter(({ outcome }) => outcome !== 'aux' && outcome !== 'timeout')

  test.each(replies)('$name yields what the manifest expects', (transcript) => {
    const call = callFor(transcript)
    const state = adapter.start(call)
    const events = read(adapter, call, transcript, undefined, state)
    const reply = fold(events, (empty) => adapter.mayBeEmpty?.(state, empty) ?? false)

    const { expect_text, expect_text_stream, expect_usage, expect_error } = transcript
    if (expect_text !== null) {
      expect(reply.text).toBe(expect_text)
      expect(reply.streamText).toBe(expect_text_stream ?? expect_text)
    }
    expect(reply.finishReason).toBe(transcript.expect_finish_reason ?? undefined)
    if (expect_usage !== null || transcript.outcome === 'ok')
      expect(usageOf(reply.usage)).toEqual(expect_usage)
    if (transcript.outcome === 'ok') expect(reply.failure).toBeUndefined()
    else expect(reply.failure).toBeDefined()
    if (expect_error !== undefined && reply.failure !== undefined) {
      expect(reply.failure.reason).toBe(expect_error.reason)
      expect(ERRORS[reply.failure.reason].status).toBe(expect_error.status)
    }
  })

  test.each(replies)('$name reads the same however its bytes are cut', (transcript) => {
    const call = callFor(transcript)
    const whole = withDetails(read(adapter, call, transcript))
    for (const chunks of cutsOf(transcript.bytes)) {
      if (withDetails(read(adapter, call, transcript, chunks)) !== whole) {
        expect.fail(`cut after ${chunks[0]?.length} bytes`)
      }
    }
  })

  test.each(replies)('$name yields no failure message with secrets, addresses or markup', (transcript) => {
    const { failure } = fold(read(adapter, callFor(transcript), transcript))
    expect(failure?.message ?? '').not.toMatch(/[<>\n]|:\/\/|sk-|nginx/)
  })
})

function withDetails(events: readonly ChatEvent[]): string {
  return JSON.stringify([events, detailsIn(events)])
}

function usageOf(usage: ReturnType<typeof fold>['usage']) {
  return usage === undefined
    ? null
    : {
        prompt_tokens: usage.promptTokens,
        completion_tokens: usage.completionTokens,
        total_tokens: usage.totalTokens,
      }
}
