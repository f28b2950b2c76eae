import type { CallMessage } from '#core/agents/adapter.ts'
import { fail } from '#core/errors.ts'
import { fileUrlProblem } from './file-urls.ts'

/** What a platform without a message array is asked: one text and the files that go with it. */
export interface Prompt {
  readonly query: string
  readonly files: readonly string[]
}

/** The last user message: all that a platform needs which keeps the conversation itself. */
export function lastUserPrompt(messages: readonly CallMessage[]): Prompt {
  const index = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[index]
  if (message === undefined) fail('invalid_request', 'body.messages: expected a message of role user.')
  return promptOf(message, index)
}

/** The whole array as one text: the only place where a history is flattened, for calls that name no conversation. */
export function wholePrompt(messages: readonly CallMessage[]): Prompt {
  if (messages.length === 1) return lastUserPrompt(messages)
  lastUserPrompt(messages)
  const prompts = messages.map(promptOf)
  const said = messages.map(({ role }, index) => `${SPEAKERS[role] ?? role}: ${prompts[index]?.query ?? ''}`)
  return { query: said.join('\n\n'), files: prompts.flatMap(({ files }) => files) }
}

const SPEAKERS: Readonly<Record<string, string>> = {
  developer: 'System',
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
  function: 'Tool',
}

/** Checks what `openai` agents get as it is: only URLs that a server of theirs would fetch are looked at. */
export function requirePublicParts(messages: readonly CallMessage[]): void {
  for (const [index, { content }] of messages.entries()) {
    for (const [at, part] of partsOf(content).entries()) {
      const url = urlOf(part)
      if (url === undefined || url.startsWith('data:')) continue
      requireFileUrl(url, `body.messages[${index}].content[${at}]`)
    }
  }
}

function promptOf({ content }: CallMessage, index: number): Prompt {
  const name = `body.messages[${index}].content`
  if (typeof content === 'string') return { query: content, files: [] }
  if (content === null || content === undefined) return { query: '', files: [] }
  const texts: string[] = []
  const files: string[] = []
  for (const [at, part] of partsOf(content).entries()) {
    if (part.type === 'text' && typeof part.text === 'string') texts.push(part.text)
    else if (part.type === 'refusal') continue
    else files.push(requireFileUrl(urlOf(part), `${name}[${at}]`))
  }
  return { query: texts.join('\n'), files }
}

type Part = Readonly<Record<string, unknown>>

function partsOf(content: unknown): readonly Part[] {
  return Array.isArray(content) ? content.map((part) => (isPart(part) ? part : {})) : []
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null
}

/** `image_url` names its URL in one way, `file` parts in as many as there are servers. */
function urlOf(part: Part): string | undefined {
  const { image_url: image, file } = part
  const holder = isPart(image) ? image.url : (image ?? (isPart(file) ? fileUrl(file) : undefined))
  return typeof holder === 'string' ? holder : undefined
}

function fileUrl(file: Part): unknown {
  return file.url ?? file.file_url ?? file.file_data
}

function requireFileUrl(url: string | undefined, name: string): string {
  if (url === undefined) fail('invalid_request', `${name}: expected a part of type text, image_url or file.`)
  const problem = fileUrlProblem(url)
  if (problem !== undefined) fail('invalid_request', `${name}: expected ${problem}.`)
  return url
}
