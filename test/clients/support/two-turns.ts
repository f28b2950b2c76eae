import type { SandboxPlatform } from '@trunkline/sandbox'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources'
import { startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'

/*
 * Starts the five emulators and a gateway, and has a conversation of two turns with each platform, through the REST
 * interface and through the `openai` package, with and without files. Exits with 1 if a platform lost the first turn.
 */

const FILES = ['https://files.example.com/report.pdf', 'https://files.example.com/photo.png']
const WAYS = {
  REST: { talk: overRest, files: [] },
  'REST, files': { talk: overRest, files: FILES },
  Responses: { talk: overResponses, files: [] },
  'Responses, files': { talk: overResponses, files: FILES },
  'chat completions': { talk: overCompletions, files: [] },
  'chat completions, files': { talk: overCompletions, files: FILES },
}

const system = await startGatewayWithSandbox()
const table: Record<string, Record<string, string>> = {}
try {
  for (const platform of Object.keys(system.sandbox.agents) as SandboxPlatform[]) {
    const cells = Object.entries(WAYS).map(async ([way, { talk, files }]) => {
      const conversation: Conversation = { platform, id: `${platform}, ${way}`, files }
      return [way, verdict(await talk(conversation), files)]
    })
    table[platform] = Object.fromEntries(await Promise.all(cells))
  }
} finally {
  await system.remove()
}
console.table(table)
const forgotten = Object.values(table)
  .flatMap(Object.values)
  .filter((word) => word !== 'remembers')
console.log(forgotten.length === 0 ? 'All remember the first turn.' : `${forgotten.length} do not remember.`)
process.exitCode = forgotten.length === 0 ? 0 : 1

interface Conversation {
  readonly platform: SandboxPlatform
  readonly id: string
  readonly files: readonly string[]
}

/** Returns the answer to the second turn. */
async function overRest({ platform, id, files }: Conversation): Promise<string> {
  const { appId = '' } = system.sandbox.agents[platform]
  const ask = async (query: string, files: readonly string[]) => {
    const more = { query, app_id: appId, chat_id: id, conversation_id: id, files }
    const response = await system.api.chat(system.key, platform, more)
    const { choices, msg } = (await response.json()) as { choices?: Choice[]; msg?: string }
    return choices?.[0]?.message.content ?? msg ?? ''
  }
  await ask('My name is Ada.', [])
  return ask('What is my name?', files)
}

interface Choice {
  readonly message: { readonly content: string }
}

async function overResponses({ platform, files }: Conversation): Promise<string> {
  const { responses } = openAi()
  const model = modelOf(platform)
  const first = await responses.create({ model, input: 'My name is Ada.' })
  const content = [{ type: 'input_text' as const, text: 'What is my name?' }, ...files.map(inputPart)]
  const input = [{ role: 'user' as const, content }]
  return (await responses.create({ model, input, previous_response_id: first.id })).output_text
}

async function overCompletions({ platform, id, files }: Conversation): Promise<string> {
  const client = openAi({ 'x-conversation-id': id })
  const model = modelOf(platform)
  const messages: ChatCompletionMessageParam[] = []
  const say = async (message: ChatCompletionMessageParam) => {
    messages.push(message)
    const { choices } = await client.chat.completions.create({ model, messages })
    const content = choices[0]?.message.content ?? ''
    messages.push({ role: 'assistant', content })
    return content
  }
  await say({ role: 'user', content: 'My name is Ada.' })
  return say({ role: 'user', content: [{ type: 'text', text: 'What is my name?' }, ...files.map(filePart)] })
}

function openAi(defaultHeaders: Record<string, string> = {}): OpenAI {
  const baseURL = `${system.gateway.url}/api/v1`
  return new OpenAI({ baseURL, apiKey: system.key, maxRetries: 0, defaultHeaders })
}

function modelOf(platform: SandboxPlatform): string {
  return platform === 'fastgpt' ? `fastgpt/${system.sandbox.agents.fastgpt.appId}` : platform
}

function inputPart(url: string) {
  return url.endsWith('.png')
    ? { type: 'input_image' as const, image_url: url, detail: 'auto' as const }
    : { type: 'input_file' as const, filename: url.slice(url.lastIndexOf('/') + 1), file_url: url }
}

function filePart(url: string) {
  return url.endsWith('.png')
    ? { type: 'image_url' as const, image_url: { url } }
    : { type: 'file' as const, file: { filename: url.slice(url.lastIndexOf('/') + 1), file_data: url } }
}

function verdict(answer: string, files: readonly string[]): string {
  if (!answer.includes('Your name is Ada;')) return 'forgot'
  return files.every((url) => answer.includes(url.slice(url.lastIndexOf('/') + 1)))
    ? 'remembers'
    : 'lost files'
}
