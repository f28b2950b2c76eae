import { chatOf } from '@trunkline/gateway/src/core/calls/chat.test-support.ts'
import { createChunkEncoder } from '@trunkline/gateway/src/rest/chat/chunks.ts'
import fc from 'fast-check'
import { APIError } from 'openai'
import { Stream } from 'openai/streaming'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because the reader of the openai package must get the pieces as a connection divides them.

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startGatewayWithSandbox()
})
afterAll(() => system.remove())

interface Chunk {
  choices: { delta: { content: string | null }; finish_reason: string | null }[]
}

interface Reply {
  choices: { message: { content: string } }[]
}

/** Reads a stream with the `openai` package. */
async function read(
  response: Response,
): Promise<{ content: string; finishReason: string | null | undefined }> {
  let content = ''
  let finishReason: string | null | undefined
  for await (const chunk of Stream.fromSSEResponse<Chunk>(response, new AbortController())) {
    const [choice] = chunk.choices
    content += choice?.delta.content ?? ''
    finishReason = choice?.finish_reason
  }
  return { content, finishReason }
}

const HOSTILE =
  'a\r\nb\rc\n\ndata: {"x":1}\n\ndata: [DONE]\n\n: d\u2028e\u2029f\u0085g\u0000h👩‍👩‍👧é“…”\\u0041"'

test.each(['fastgpt', 'openai', 'dify', 'coze', 'hiagent'])(
  '%s: the openai package reads the same text from the stream as from the JSON reply',
  async (agent) => {
    for (const [index, query] of ['Hello', '你好，你是谁？', `sandbox:echo ${HOSTILE}`].entries()) {
      // Each call has its own conversation, because an emulator's answer depends on earlier turns.
      const ask = (stream: boolean) => {
        const id = `${agent}-${index}-${stream}`
        const more = { stream, query, chat_id: id, conversation_id: id }
        return system.api.chat(system.key, agent, agent === 'coze' ? { ...more, app_id: '' } : more)
      }
      const reply = (await (await ask(false)).json()) as Reply
      const expected = reply.choices[0]?.message.content
      expect(await read(await ask(true))).toEqual({ content: expected, finishReason: 'stop' })
      if (index === 2) expect(expected).toBe(HOSTILE)
    }
  },
)

test('the openai package throws on a failure amid the stream, after delivering the text before it', async () => {
  for (const agent of ['fastgpt', 'openai']) {
    const response = await system.api.chat(system.key, agent, {
      stream: true,
      query: 'sandbox:error-midstream Hello',
    })
    expect(response.status).toBe(200)
    const failure = await read(response).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(APIError)
    expect(failure).toMatchObject({ code: 'agent_error', type: 'server_error' })
  }
})

test('the openai package reads any text of a platform unchanged, however the text is divided into chunks', async () => {
  const anyUnit = fc.integer({ max: 0xffff }).map((code) => String.fromCharCode(code))
  const fragments = fc.array(
    fc.oneof(fc.string({ unit: anyUnit }), fc.constantFrom('\r\n', 'data: x\n\n', '\ud83d', '\udc4b')),
  )
  await fc.assert(
    fc.asyncProperty(fragments, fc.integer({ min: 1, max: 50 }), async (texts, size) => {
      const { encode } = createChunkEncoder(chatOf([]), { detail: false })
      const text = texts.map((fragment) => encode({ type: 'text', text: fragment })).join('')
      const bytes = Buffer.from(text + encode({ type: 'end', reason: 'stop' }))
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) controller.enqueue(piece)
          controller.close()
        },
      })
      const { content } = await read(new Response(body))
      expect(content).toBe(texts.join(''))
    }),
  )
})
