import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxPlatform, SeenRequest } from '@trunkline/sandbox'
import { inOneYear } from './api.ts'
import type { GatewayWithSandbox } from './gateway-with-sandbox.ts'
import { contentOf } from './stream.ts'
import { until } from './until.ts'
import { untilServed } from './until-served.ts'

export interface TestFile {
  readonly name: string
  readonly mediaType: string
  readonly content: Buffer
}

const FIXTURES = join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures')
const fixture = (name: string, from: string, mediaType: string): TestFile => ({
  name,
  mediaType,
  content: readFileSync(join(FIXTURES, from)),
})

export const REPORT = fixture('report.pdf', 'reportlab.pdf', 'application/pdf')
export const PHOTO = fixture('photo.png', 'pillow.png', 'image/png')
export const NOTES = fixture(
  'notes.docx',
  'libreoffice.docx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
)

/** How an emulator's reply describes a file that reached it, without the name, which not every protocol has. */
export function traceOf({ content }: Pick<TestFile, 'content'>): string {
  return `(${content.length} bytes, sha256 ${createHash('sha256').update(content).digest('hex')})`
}

export function dataUrlOf({ mediaType, content }: Omit<TestFile, 'name'>): string {
  return `data:${mediaType};base64,${content.toString('base64')}`
}

export type Way = 'chat' | 'chat stream' | 'completions' | 'completions stream'
export const WAYS: readonly Way[] = ['chat', 'chat stream', 'completions', 'completions stream']

export interface Question {
  readonly agent: string
  readonly way?: Way
  readonly query?: string
  readonly key?: string
  readonly user?: string
  /** URLs. On the OpenAI-compatible face those that end in .png are images, and the others files. */
  readonly files?: readonly string[]
  /** Of the REST API. */
  readonly variables?: Readonly<Record<string, unknown>>
  /** Content parts, in place of `files`. */
  readonly parts?: readonly object[]
}

export interface Reply {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read replies of every shape
  readonly body: any
  readonly requestId: string
}

/** Uploads files and asks agents about them, through a gateway in front of the emulators. */
export function filesInChats(system: GatewayWithSandbox, key: string) {
  const { api, sandbox } = system

  async function upload(file: TestFile, by = key): Promise<{ id: string; url: string }> {
    const form = new FormData()
    form.set('file', new File([new Uint8Array(file.content)], file.name))
    form.set('created_by', 'me')
    const headers = { authorization: `Bearer ${by}` }
    const response = await untilServed(() =>
      fetch(`${system.gateway.url}/api/v1/upload`, { method: 'POST', headers, body: form }),
    )
    const { data, ...rest } = (await response.json()) as { data: { id: string; url: string } }
    if (response.status !== 200) throw new Error(`the upload was refused: ${JSON.stringify(rest)}`)
    return data
  }

  async function ask(question: Question): Promise<Reply> {
    const { way = 'chat', key: by = key } = question
    const requestId = randomUUID()
    const isChat = way.startsWith('chat')
    const response = await fetch(`${system.gateway.url}/api/v1/chat${isChat ? '' : '/completions'}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${by}`,
        'content-type': 'application/json',
        'x-request-id': requestId,
        ...(isChat && { agent: question.agent }),
      },
      body: JSON.stringify(isChat ? chatBodyOf(question) : completionOf(question)),
    })
    const text = await response.text()
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const body = isStream ? undefined : JSON.parse(text)
    const content = isStream ? contentOf(text) : (body.choices?.[0]?.message?.content ?? '')
    return { status: response.status, text: content, body, requestId }
  }

  /** The settled calls of a request in the ledger. */
  async function callsOf({ requestId }: Reply) {
    return await until(`the calls of request ${requestId} are settled`, async () => {
      const path = `/api/v1/calls?request_id=${requestId}`
      const { body } = await api.call('GET', path, { token: system.token })
      const rows: { outcome: string | null; reason: string | null }[] = body.data.items
      return rows.length > 0 && rows.every(({ outcome }) => outcome !== null) && rows
    })
  }

  /** The requests that reached an emulator, apart from probes, during some work. */
  async function during<Result>(platform: SandboxPlatform, work: () => Promise<Result>) {
    const { seen } = sandbox.agents[platform]
    const before = new Set(seen.requests)
    const result = await work()
    const requests = seen.requests.filter((each) => !before.has(each) && each.method === 'POST')
    const [uploads, chats] = [requests.filter(isUpload), requests.filter((each) => !isUpload(each))]
    return { result, uploads, chats: chats.filter(isChatRequest) }
  }

  return { upload, ask, callsOf, during }
}

export type FilesInChats = ReturnType<typeof filesInChats>

/** A key that may upload and chat. */
export async function createFullKey({ api, token }: GatewayWithSandbox, more: Record<string, unknown> = {}) {
  const permissions = ['chat', 'upload']
  return (await api.createKey(token, { permissions, expires_at: inOneYear(), ...more })).full_key
}

function chatBodyOf({ way, agent, query = 'Hello', files = [], variables, user }: Question): object {
  const conversation = randomUUID()
  return {
    app_id: agent === 'fastgpt' ? 'app-1' : '',
    chat_id: conversation,
    conversation_id: conversation,
    stream: way === 'chat stream',
    detail: false,
    query,
    files,
    variables,
    user,
  }
}

function completionOf({ way, agent, query = 'Hello', files = [], parts, user }: Question): object {
  const content = [{ type: 'text', text: query }, ...(parts ?? files.map(partOf))]
  return {
    model: agent === 'fastgpt' ? 'fastgpt/app-1' : agent,
    stream: way === 'completions stream',
    messages: [{ role: 'user', content }],
    user,
  }
}

function partOf(url: string): object {
  return URL.parse(url)?.pathname.endsWith('.png')
    ? { type: 'image_url', image_url: { url } }
    : { type: 'file', file: { file_data: url } }
}

function isUpload({ path }: SeenRequest): boolean {
  return path.endsWith('/files/upload')
}

function isChatRequest({ path }: SeenRequest): boolean {
  return /(chat-messages|v3\/chat|chat\/completions|chat_query(_v2)?)$/.test(path)
}
