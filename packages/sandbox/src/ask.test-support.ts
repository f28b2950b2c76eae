import type { SandboxAgent, SandboxPlatform } from './index.ts'
import { asRecord, asText, type JsonRecord } from './serving/narrow.ts'

/** One call, as a client of the platform would send it. */
export interface Question {
  readonly stream?: boolean
  /** Fields that are added to the body or override those of the same name. */
  readonly body?: JsonRecord
  readonly key?: string
  readonly signal?: AbortSignal
}

export function post(
  agent: SandboxAgent,
  path: string,
  body: unknown,
  { key = agent.apiKey, signal }: Question = {},
): Promise<Response> {
  return fetch(agent.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, apikey: key },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
}

export function get(agent: SandboxAgent, path: string, key = agent.apiKey): Promise<Response> {
  return fetch(agent.baseUrl + path, { headers: { authorization: `Bearer ${key}` } })
}

type Ask = (agent: SandboxAgent, query: string, question?: Question) => Promise<Response>

/** Sends the simplest chat call of each platform; it streams by default. */
export const ask: Readonly<Record<SandboxPlatform, Ask>> = {
  fastgpt: (agent, query, question = {}) =>
    post(
      agent,
      '/v1/chat/completions',
      { stream: question.stream ?? true, messages: [{ role: 'user', content: query }], ...question.body },
      question,
    ),
  async hiagent(agent, query, question = {}) {
    const who = { AppKey: agent.apiKey, UserID: 'ada' }
    const AppConversationID = question.body?.AppConversationID ?? (await hiagentConversation(agent))
    const ResponseMode = (question.stream ?? true) ? 'streaming' : 'blocking'
    const body = { ...who, AppConversationID, Query: query, ResponseMode, ...question.body }
    return post(agent, '/chat_query_v2', body, question)
  },
  dify: (agent, query, question = {}) =>
    post(
      agent,
      '/chat-messages',
      {
        inputs: {},
        query,
        user: 'ada',
        response_mode: (question.stream ?? true) ? 'streaming' : 'blocking',
        ...question.body,
      },
      question,
    ),
  coze: (agent, query, question = {}) =>
    post(
      agent,
      `/v3/chat${question.body?.conversation_id ? `?conversation_id=${question.body.conversation_id}` : ''}`,
      {
        bot_id: agent.appId,
        user_id: 'ada',
        stream: question.stream ?? true,
        additional_messages: [{ role: 'user', content: query, content_type: 'text' }],
        ...question.body,
      },
      question,
    ),
  openai: (agent, query, question = {}) =>
    post(
      agent,
      '/chat/completions',
      {
        model: agent.appId,
        stream: question.stream ?? true,
        messages: [{ role: 'user', content: query }],
        ...question.body,
      },
      question,
    ),
}

export async function hiagentConversation(agent: SandboxAgent, UserID = 'ada'): Promise<string> {
  const response = await post(agent, '/create_conversation', { AppKey: agent.apiKey, UserID, Inputs: {} })
  return asText(asRecord((await readJson(response)).Conversation).AppConversationID)
}

export async function readJson(response: Response): Promise<JsonRecord> {
  return asRecord(JSON.parse((await response.text()).replace(/\}null$/, '}')))
}

export interface Frame {
  readonly event: string | undefined
  readonly data: string
}

/** Returns the frames of a stream that end with a blank line and have data. */
export function framesOf(stream: string): readonly Frame[] {
  return stream
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => ({
      event: field(frame, 'event'),
      data: field(frame, 'data') ?? '',
    }))
    .filter(({ data }) => data !== '')
}

// Splits at line feeds instead of matching with `^` and `.`, which also treat U+2028 as the end of a line.
function field(frame: string, name: string): string | undefined {
  const line = frame.split('\n').find((each) => each.startsWith(`${name}:`))
  return line?.slice(name.length + 1).replace(/^ /, '')
}

/** Returns the text of a streamed reply as a client would assemble it. */
export function textOf(platform: SandboxPlatform, stream: string): string {
  return framesOf(stream)
    .filter(({ data }) => data.startsWith('{') && data.endsWith('}'))
    .map(({ event, data }) => fragmentOf(platform, event, asRecord(JSON.parse(data))))
    .join('')
}

function fragmentOf(platform: SandboxPlatform, event: string | undefined, data: JsonRecord): string {
  switch (platform) {
    case 'fastgpt':
    case 'openai': {
      const [choice] = Array.isArray(data.choices) ? data.choices : []
      return asText(asRecord(asRecord(choice).delta).content)
    }
    case 'hiagent':
    case 'dify':
      return data.event === 'message' ? asText(data.answer) : ''
    case 'coze':
      return event === 'conversation.message.delta' ? asText(data.content) : ''
  }
}

/** Replaces ids and times, which differ from run to run, by their kind. */
export function normalise(wire: string): string {
  return wire
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\b73[78]\d{16}\b/g, 'SNOWFLAKE')
    .replaceAll(/\b[0-9a-f]{20,24}\b/g, 'HEX')
    .replaceAll(/\b1[789]\d{8}(\d{3})?\b/g, 'TIME')
}
