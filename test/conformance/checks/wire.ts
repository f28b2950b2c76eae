import {
  type Transcript,
  transcriptsOf,
} from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import { ERRORS, type ErrorReason } from '@trunkline/gateway/src/core/base/errors/errors.ts'
import type { Dialect } from '@trunkline/gateway/test/agents/dialect.test-support.ts'
import { expect } from 'vitest'
import { ENCODINGS, type Pace, replayOf } from '../replay.ts'
import type { Reply } from '../reply.ts'
import type { Check, Trial } from '../trial.ts'

/** Sizes of pieces that split events, characters and line ends at different places. */
const PIECES: readonly Pace[] = ['1', '7', '64', '509']
const PIECES_MAX = 1_000

export const WIRE = {
  async 'WIRE-01'(trial) {
    for (const transcript of requireTranscripts(trial)) {
      for (const stream of [false, true]) {
        const reply = await replayed(trial, transcript, 'whole', stream)
        expect({ name: transcript.name, stream, ...summaryOf(reply) }).toMatchObject({
          name: transcript.name,
          stream,
          ...expectedOf(transcript, stream),
        })
      }
    }
  },

  async 'WIRE-02'(trial) {
    for (const transcript of requireTranscripts(trial)) {
      if (transcript.outcome === 'timeout') continue
      const whole = summaryOf(await replayed(trial, transcript, 'whole', true))
      const { length } = transcript.bytes
      const pieces = PIECES.filter((pace) => Number(pace) < length && length / Number(pace) < PIECES_MAX)
      const replies = await Promise.all(pieces.map((pace) => replayed(trial, transcript, pace, true)))
      for (const reply of replies) {
        // On a busy machine the pieces may take longer than the headers wait, after which a failure has the status 200.
        const status = reply.raw.startsWith(': keep-alive') ? whole.status : reply.status
        expect({ name: transcript.name, ...summaryOf(reply), status }).toEqual({
          name: transcript.name,
          ...whole,
        })
      }
    }
  },

  async 'WIRE-03'(trial) {
    for (const [index, transcript] of requireTranscripts(trial).entries()) {
      if (transcript.outcome === 'timeout') continue
      const stream = index % 2 === 0
      const encoding = ENCODINGS[index % ENCODINGS.length] ?? 'gzip'
      const plain = summaryOf(await replayed(trial, transcript, 'whole', stream))
      const reply = await replayed(trial, transcript, encoding, stream)
      const { name } = transcript
      expect({ name, encoding, ...summaryOf(reply) }).toEqual({ name, encoding, ...plain })
    }
  },
} satisfies Record<string, Check>

/** Returns the recorded replies of a dialect, without those of auxiliary calls. */
export function transcriptsFor({ platform, transcripts }: Dialect, folders: URL): readonly Transcript[] {
  return [...transcriptsOf(platform, folders), ...transcriptsOf('generic')].filter(
    ({ name, outcome }) => transcripts?.test(name) && outcome !== 'aux',
  )
}

function requireTranscripts(trial: Trial): readonly Transcript[] {
  const transcripts = transcriptsFor(trial.dialect, trial.setup.folders)
  return transcripts.length > 0 ? transcripts : trial.exempt('nothing was recorded of it')
}

function replayed(trial: Trial, { name, outcome }: Transcript, pace: Pace, stream: boolean): Promise<Reply> {
  const variant = outcome === 'timeout' ? 'stale' : 'replay'
  return trial.askOnce({ query: replayOf(name, pace, 'wire'), variant, stream })
}

function summaryOf({ status, reason, text, finishes, usage }: Reply) {
  return { status, reason, text, finishes, usage }
}

function expectedOf(transcript: Transcript, stream: boolean) {
  const { outcome, expect_text, expect_text_stream, expect_finish_reason, expect_usage, expect_error } =
    transcript
  if (outcome === 'ok') {
    return {
      status: 200,
      reason: undefined,
      text: (stream ? expect_text_stream : undefined) ?? expect_text,
      finishes: [expect_finish_reason],
      usage: expect_usage ?? undefined,
    }
  }
  const isBegun = stream && Boolean(expect_text)
  const reason = expect_error?.reason ?? expect.toSatisfy((reason: string) => Object.hasOwn(ERRORS, reason))
  return {
    status: isBegun ? 200 : (expect_error?.status ?? expect.toSatisfy((status: number) => status >= 400)),
    reason: reason as ErrorReason,
    text: isBegun ? expect_text : '',
    finishes: [],
    usage: undefined,
  }
}
