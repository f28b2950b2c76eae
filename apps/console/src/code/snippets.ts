import type { PauseAnswer } from '@trunkline/sdk'

/** A chat as it is shown for other programs. */
export interface SnippetChat {
  /** The gateway's address. */
  readonly baseURL: string
  readonly agent: string
  readonly app: string
  /** Empty where the agent keeps no conversations. */
  readonly conversationId: string
  readonly query: string
  /** What the message says to the question at which the run waits. */
  readonly answer?: PauseAnswer | undefined
  /** URLs. */
  readonly files: readonly string[]
  readonly detail: boolean
  readonly apiKey: string
}

/** Stands for the secret of a key, which is shown at its creation alone. */
export const KEY_PLACEHOLDER = 'tl_your_api_key'

/** `typescript` and `python` with the `openai` packages, `sdk` with `@trunkline/sdk`. */
export const LANGUAGES = ['curl', 'python', 'typescript', 'sdk'] as const

/** The same request for a shell and for programs, each ready to be pasted. */
export type Snippets = Readonly<Record<(typeof LANGUAGES)[number], string>>

export function chatSnippets(chat: SnippetChat): Snippets {
  return { curl: curl(chat), python: python(chat), typescript: typescript(chat), sdk: sdk(chat) }
}

function curl({
  baseURL,
  agent,
  app,
  conversationId,
  query,
  answer,
  files,
  detail,
  apiKey,
}: SnippetChat): string {
  const body = {
    app_id: app,
    chat_id: conversationId,
    conversation_id: conversationId,
    stream: true,
    detail,
    query,
    answer,
    files,
  }
  return [
    `curl -N ${quote(`${baseURL}/api/v1/chat`)} \\`,
    `  -H ${quote(`authorization: Bearer ${apiKey}`)} \\`,
    `  -H ${quote(`agent: ${agent}`)} \\`,
    "  -H 'content-type: application/json' \\",
    `  -d ${quote(JSON.stringify(body))}`,
  ].join('\n')
}

/** An upload for the same programs; the `openai` package has none that the gateway takes. */
export function uploadSnippets({
  baseURL,
  apiKey,
}: Pick<SnippetChat, 'baseURL' | 'apiKey'>): Pick<Snippets, 'curl' | 'sdk'> {
  const curl = [
    `curl ${quote(`${baseURL}/api/v1/upload`)} \\`,
    `  -H ${quote(`authorization: Bearer ${apiKey}`)} \\`,
    "  -F file=@notes.txt -F created_by='me'",
  ]
  const sdk = [
    ...IMPORT_OF_SDK,
    ...newClient(baseURL, apiKey),
    "const { url } = await client.uploads.create('./notes.txt', { created_by: 'me' })",
    'console.log(url)',
  ]
  return { curl: curl.join('\n'), sdk: sdk.join('\n') }
}

/** Quoted for a shell, in which nothing but the quote itself is special. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

function sdk({
  baseURL,
  agent,
  app,
  conversationId,
  query,
  answer,
  files,
  detail,
  apiKey,
}: SnippetChat): string {
  return [
    ...IMPORT_OF_SDK,
    ...newClient(baseURL, apiKey),
    'const stream = client.chat.stream({',
    `  agent: ${text(agent)},`,
    ...(app === '' ? [] : [`  app_id: ${text(app)},`]),
    ...(conversationId === ''
      ? []
      : [`  chat_id: ${text(conversationId)},`, `  conversation_id: ${text(conversationId)},`]),
    `  query: ${text(query)},`,
    ...(answer === undefined ? [] : [`  answer: ${JSON.stringify(answer)},`]),
    ...(files.length === 0 ? [] : [`  files: [${files.map(text).join(', ')}],`]),
    ...(detail ? ['  detail: true,'] : []),
    '})',
    'for await (const chunk of stream) {',
    "  process.stdout.write(chunk.choices[0]?.delta.content ?? '')",
    '}',
  ].join('\n')
}

/** The package is not on npm yet, so the first lines say what works today. */
const IMPORT_OF_SDK = [
  '// The package is not on npm yet. Pack it in a checkout of the repository, and install it:',
  '//   npx -y pnpm@12 --filter @trunkline/sdk pack --pack-destination /tmp',
  '//   npm install /tmp/trunkline-sdk-*.tgz',
  '// Then save this as chat.mjs, and run it with Node 20 or later.',
  "import { Trunkline } from '@trunkline/sdk'",
  '',
]

/** Runs in Node as it is, and in a page where the visitor's own key is meant. */
function newClient(baseURL: string, apiKey: string): string[] {
  return [
    'const client = new Trunkline({',
    `  baseURL: ${text(baseURL)},`,
    `  apiKey: ${text(apiKey)},`,
    '  dangerouslyAllowBrowser: true, // leave it out on a server',
    '})',
  ]
}

function python({ baseURL, agent, app, conversationId, query, answer, files, apiKey }: SnippetChat): string {
  const parts = files.map((url) => ({ type: 'image_url', image_url: { url } }))
  const content = files.length === 0 ? query : [{ type: 'text', text: query }, ...parts]
  return [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${inPython(`${baseURL}/api/v1`)}, api_key=${inPython(apiKey)})`,
    'stream = client.chat.completions.create(',
    `    model=${inPython(app === '' ? agent : `${agent}/${app}`)},`,
    `    messages=[${inPython({ role: 'user', content })}],`,
    '    stream=True,',
    ...(answer === undefined ? [] : [`    extra_body=${inPython({ answer })},`]),
    ...(conversationId === ''
      ? []
      : [`    extra_headers=${inPython({ 'X-Conversation-Id': conversationId })},`]),
    ')',
    'for chunk in stream:',
    '    if chunk.choices:',
    '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
  ].join('\n')
}

/** As a literal of Python, which writes texts and numbers as JSON does. */
function inPython(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inPython).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
    return `{${entries.map(([name, entry]) => `${inPython(name)}: ${inPython(entry)}`).join(', ')}}`
  }
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : JSON.stringify(value)
}

function typescript({
  baseURL,
  agent,
  app,
  conversationId,
  query,
  answer,
  files,
  apiKey,
}: SnippetChat): string {
  const parts = [
    `{ type: 'text', text: ${text(query)} }`,
    ...files.map((url) => `{ type: 'image_url', image_url: { url: ${text(url)} } }`),
  ]
  const content = files.length === 0 ? text(query) : `[\n      ${parts.join(',\n      ')},\n    ]`
  return [
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: ${text(`${baseURL}/api/v1`)}, apiKey: ${text(apiKey)} })`,
    'const stream = await client.chat.completions.create(',
    '  {',
    `    model: ${text(app === '' ? agent : `${agent}/${app}`)},`,
    `    messages: [{ role: 'user', content: ${content} }],`,
    '    stream: true,',
    ...(answer === undefined ? [] : [`    answer: ${JSON.stringify(answer)},`]),
    '  },',
    ...(conversationId === '' ? [] : [`  { headers: { 'X-Conversation-Id': ${text(conversationId)} } },`]),
    ')',
    'for await (const chunk of stream) {',
    "  process.stdout.write(chunk.choices[0]?.delta.content ?? '')",
    '}',
  ].join('\n')
}

/** As a literal of JavaScript. */
function text(value: string): string {
  const json = JSON.stringify(value)
  return value.includes("'") ? json : `'${json.slice(1, -1).replaceAll('\\"', '"')}'`
}
