import type { Adapter, Agent } from '@trunkline/gateway/src/core/agents/adapter.ts'
import type { ChatEvent } from '@trunkline/gateway/src/core/agents/events.ts'
import { BUILT_IN } from '@trunkline/gateway/src/core/agents/registry.ts'
import { servedBySelf } from '@trunkline/gateway/src/core/agents/served-agent.ts'
import {
  agentFor,
  everyOptionsOf,
  transcriptsOf,
} from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import { CONFIGURED_CARDS } from '@trunkline/gateway/src/core/agents/upstream/configured-cards.test-support.ts'
import type { Upstream } from '@trunkline/gateway/src/core/agents/upstream/upstream.ts'
import type { UpstreamPart } from '@trunkline/gateway/src/core/agents/upstream/upstream-reply.ts'
import { Problem } from '@trunkline/gateway/src/core/base/errors/errors.ts'
import { parseJson } from '@trunkline/gateway/src/core/base/values/json.ts'
import { chatOf } from '@trunkline/gateway/src/core/calls/chat.test-support.ts'
import { collectReply, PartsCollector } from '@trunkline/gateway/src/core/calls/reading/collect-reply.ts'
import { startReply } from '@trunkline/gateway/src/core/calls/reply.test-support.ts'
import type { ReplyCollector } from '@trunkline/gateway/src/core/reply-log/kept-form.ts'
import type { ChunkEncoder } from '@trunkline/gateway/src/http/chat/completion-form.ts'
import { createCompletionEncoder } from '@trunkline/gateway/src/openai/chunks.ts'
import { completionOf } from '@trunkline/gateway/src/openai/reply.ts'
import { createChunkEncoder } from '@trunkline/gateway/src/rest/chat/chunks.ts'
import { createReplyCollector } from '@trunkline/gateway/src/rest/chat/reply.ts'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CONTRACT } from '../support/contract/contract.ts'
import { replyCheck } from '../support/contract/schema-check.ts'
import { mutated } from './mutations.ts'

const SOAK_TIMEOUT_MS = 30 * 60_000
const runs = process.env.SOAK
  ? { numRuns: 200_000, timeoutMs: SOAK_TIMEOUT_MS }
  : { numRuns: 400, seed: 1, timeoutMs: 30_000 }

const replyBytesMax = 1024 * 1024
const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
const [chunk, completionChunk, streamError, reply, completion] = [
  'ChatChunk',
  'CompletionChunk',
  'StreamError',
  'ChatReply',
  'Completion',
].map((name) => replyCheck(CONTRACT, ['components', 'schemas', name])) as [Check, Check, Check, Check, Check]
type Check = ReturnType<typeof replyCheck>

test.for(BUILT_IN)(
  '$platform: whatever it sends, both interfaces return valid replies with one end and without secrets',
  { timeout: runs.timeoutMs },
  async (adapter) => {
    // A task that works is asked about for a minute.
    vi.useFakeTimers().setTimerTickMode('nextTimerAsync')
    onTestFinished(() => void vi.useRealTimers())
    // With this option, operators allow prompts of nodes to reach clients.
    const options = everyOptionsOf(adapter).filter(({ nodeData }) => nodeData !== 'full')
    await fc.assert(
      fc.asyncProperty(
        mutated(transcriptsOf(adapter.platform)),
        fc.constantFrom(...options),
        async (parts, options) => {
          const events = await readEvents(adapter, options, parts)
          for (const detail of [false, true]) {
            requireStream(createChunkEncoder(chatOf([]), { detail }), events, chunk)
            await requireReply(createReplyCollector(chatOf([]), { detail }), events, reply)
          }
          for (const reasoning of [false, true]) {
            const encoder = createCompletionEncoder(chatOf([]), { reasoning, includeUsage: reasoning })
            requireStream(encoder, events, completionChunk)
            const parts = { reasoning, toolCalls: true }
            const collector = new PartsCollector('m', parts, (made) => completionOf(chatOf([]), made))
            await requireReply(collector, events, completion)
          }
        },
      ),
      runs,
    )
  },
)

/** The events that the chat service derives from a reply, and the error that ended it, if any. */
interface ReadReply {
  readonly batches: readonly (readonly ChatEvent[])[]
  readonly problem: Problem | undefined
}

async function readEvents(
  adapter: Adapter,
  options: Agent['options'],
  parts: readonly UpstreamPart[],
): Promise<ReadReply> {
  const agent = servedBySelf(
    agentFor(adapter, {
      options,
      timeouts,
      apiKey: 'sk-planted-agent',
      baseUrl: 'https://planted.internal:8443',
    }),
  )
  const { reply: running } = startReply({ agent, upstream: upstreamOf(parts) })
  const batches: (readonly ChatEvent[])[] = []
  try {
    await running.read((batch) => {
      batches.push(batch)
      return undefined
    })
    return { batches, problem: undefined }
  } catch (error) {
    if (!(error instanceof Problem) || error.reason === 'internal_error') throw error
    return { batches, problem: error }
  }
}

function upstreamOf(parts: readonly UpstreamPart[]): Upstream {
  const left = [...parts]
  const last = parts.findLast((part) => part.kind === 'events')?.events.at(-1)
  const asked = last === undefined ? undefined : parseJson(last.data)
  return {
    cards: CONFIGURED_CARDS,
    open: () => ({
      status: 200,
      wasBegun: true,
      next: async () => left.shift() ?? { kind: 'end' },
      interrupt: () => undefined,
      finish: () => undefined,
      cancel: () => undefined,
    }),
    // What is asked after the end is answered with something of the reply, whose form is another one.
    help: async (_agent, call) => call.read(200, asked, () => undefined),
    close: async () => undefined,
  }
}

/** Expects the bytes of a valid stream: chunks that match the schema, then `[DONE]` or one error. */
function requireStream(encoder: ChunkEncoder, { batches, problem }: ReadReply, check: Check): void {
  const text = batches.flat().map(encoder.encode).join('') + (problem ? encoder.fail(problem) : '')
  requireNoSecret(text)
  const frames = text.split('\n\n')
  if (frames.pop() !== '') expect.fail(`the stream ends amid an event: ${text}`)
  const last = frames.pop()
  for (const frame of frames) requireValid(check, frame)
  if (problem === undefined) expect(last).toBe('data: [DONE]')
  else requireValid(streamError, last ?? '')
}

async function requireReply(
  collector: ReplyCollector,
  { batches, problem }: ReadReply,
  check: Check,
): Promise<void> {
  const body = JSON.stringify(await collectReply(chatOf(batches).events, collector, replyBytesMax))
  if (problem === undefined) requireValid(check, `data: ${body}`)
  requireNoSecret(body)
}

function requireValid(check: Check, frame: string): void {
  if (!frame.startsWith('data: ') || /[\r\n]/.test(frame)) expect.fail(`not one line of data: ${frame}`)
  const mistake = check(JSON.parse(frame.slice(6)))
  if (mistake !== undefined) expect.fail(`${mistake}: ${frame}`)
}

function requireNoSecret(text: string): void {
  if (text.includes('planted')) expect.fail(`a secret: ${text}`)
}
