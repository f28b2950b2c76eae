import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

/** One request to the model, and whether its client has read the reply to the end. */
export interface ModelCall {
  readonly question: string
  state: 'open' | 'ended' | 'left'
}

export interface ScriptedModel {
  /** The base URL, as clients of OpenAI's interface take it. */
  readonly url: string
  readonly calls: readonly ModelCall[]
  close(): Promise<void>
}

interface Message {
  readonly role: string
  readonly content?: unknown
}

/** What the model says: words that come one after the other, or the call of a tool. */
interface Reply {
  readonly words?: readonly string[]
  readonly everyMs?: number
  /** After so many words the connection breaks. */
  readonly breaksAfter?: number
  readonly tool?: { readonly name: string; readonly args: object }
}

/**
 * Starts a model that does what the last question says: `fail=500`, `cut`, `slow`, `recall`, `refund` and `ship` are its commands,
 * and it repeats every other question.
 */
export async function startModel(): Promise<ScriptedModel> {
  const calls: ModelCall[] = []
  const server = createServer((request, response) => void answer(request, response, calls).catch(() => {}))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, calls: ModelCall[]): Promise<void> {
  const { messages, stream } = JSON.parse(await text(request)) as { messages: Message[]; stream?: boolean }
  const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => textIn(content))
  const question = questions.at(-1) ?? ''
  const call: ModelCall = { question, state: 'open' }
  calls.push(call)
  response.on('close', () => {
    call.state = response.writableFinished ? 'ended' : 'left'
  })
  const status = Number(/^fail=(\d+)/.exec(question)?.[1])
  if (status > 0) {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'The model is out of order.', type: 'server_error' } }))
    return
  }
  const last = messages.at(-1)
  const reply =
    last?.role === 'tool'
      ? { words: wordsOf(`The tool says: ${textIn(last.content)}`) }
      : replyTo(question, questions)
  const id = `chatcmpl-${calls.length}`
  if (stream === true) await sendStream(response, id, reply)
  else sendWhole(response, id, reply)
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content ?? '')
  return content.map((part: { text?: string }) => part.text ?? JSON.stringify(part)).join('')
}

function replyTo(question: string, questions: readonly string[]): Reply {
  const order = { order: 'order 7' }
  switch (question.split(' ')[0]) {
    case 'refund':
      return { words: ['Let me ', 'see. '], tool: { name: 'refund', args: order } }
    case 'ship':
      return { tool: { name: 'ship', args: order } }
    case 'recall':
      return { words: wordsOf(`You asked: ${questions.join(' | ')}`) }
    case 'slow':
      return { words: Array.from({ length: 400 }, (_word, index) => `${index} `), everyMs: 25 }
    case 'cut':
      return { words: wordsOf('This is only the first half'), breaksAfter: 4 }
    default:
      return { words: wordsOf(`You said: ${question}`) }
  }
}

function wordsOf(sentence: string): readonly string[] {
  return sentence.split(/(?<= )/)
}

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

async function sendStream(response: ServerResponse, id: string, reply: Reply): Promise<void> {
  const { words = [], everyMs = 0, breaksAfter, tool } = reply
  const send = (more: object) =>
    response.write(
      `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 0, model: 'scripted', ...more })}\n\n`,
    )
  const sendDelta = (delta: object, finish_reason: string | null = null) =>
    send({ choices: [{ index: 0, delta, finish_reason }] })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [index, content] of words.entries()) {
    if (index === breaksAfter) {
      response.destroy()
      return
    }
    if (response.destroyed) return
    sendDelta({ role: 'assistant', content })
    await pause(everyMs)
  }
  if (tool !== undefined) sendDelta({ role: 'assistant', tool_calls: [{ index: 0, ...toolCall(id, tool) }] })
  sendDelta({}, tool === undefined ? 'stop' : 'tool_calls')
  send({ choices: [], usage: USAGE })
  response.end('data: [DONE]\n\n')
}

function sendWhole(response: ServerResponse, id: string, { words = [], breaksAfter, tool }: Reply): void {
  if (breaksAfter !== undefined) {
    response.destroy()
    return
  }
  const message = {
    role: 'assistant',
    content: words.join(''),
    ...(tool !== undefined && { tool_calls: [toolCall(id, tool)] }),
  }
  const finish_reason = tool === undefined ? 'stop' : 'tool_calls'
  const body = { id, object: 'chat.completion', created: 0, model: 'scripted', usage: USAGE }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ...body, choices: [{ index: 0, message, finish_reason }] }))
}

function toolCall(id: string, { name, args }: NonNullable<Reply['tool']>): object {
  return { id: `call-${id}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}
