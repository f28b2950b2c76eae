/* Runs in the browser: starts GraphiQL and gives its requests the credential that their operation takes. */

const { endpoint, files, keyFields } = JSON.parse(document.querySelector('#options').textContent)
const token = document.querySelector('#token')
const key = document.querySelector('#key')

for (const field of [token, key]) {
  field.value = sessionStorage.getItem(`credential:${field.id}`) ?? ''
  field.addEventListener('input', () => keep(field, field.value))
}

// GraphiQL sends all of its requests by the global `fetch`.
const send = globalThis.fetch
globalThis.fetch = async (url, init = {}) => {
  const headers = new Headers(init.headers)
  const credential = credentialOf(init.body)
  if (credential !== '' && !headers.has('authorization')) headers.set('authorization', `Bearer ${credential}`)
  const response = await send(url, { ...init, headers })
  const type = response.headers.get('content-type') ?? ''
  if (type.includes('json')) keepCredentials(await response.clone().json())
  return response
}

/** The examples, each in a tab that is named for its operation, lead from a login to a chat. */
const tabs = [
  {
    query: `# Write your password into the variables below and press the button, or Ctrl and Enter.
# The access token goes into the field at the top, and the next tab sends it.
mutation Login($input: LoginInput!) {
  login(input: $input) {
    accessToken
    expiresIn
  }
}
`,
    variables: inLines({ input: { username: 'admin', password: '' } }),
  },
  {
    query: `# A chat needs an API key. Administrators and premium users create it, with an access token.
# The key is shown only once; it goes into the field at the top, and the tab Chat sends it.
mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    fullKey
  }
}
`,
    variables: inLines({
      input: {
        name: 'GraphiQL',
        description: 'Chats from GraphiQL.',
        expiresAt: new Date(Date.now() + 30 * 86_400_000).toISOString(),
        permissions: ['CHAT'],
      },
    }),
  },
  {
    query: `# The subscription of the same name follows the reply.
mutation Chat($input: ChatInput!) {
  chat(input: $input) {
    text
    finishReason
  }
}
`,
    variables: inLines({
      input: { agentId: 'fastgpt', appId: 'demo', query: 'Hello! Who are you?', detail: false },
    }),
  },
]

globalThis.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => `${files}/${WORKERS[label] ?? 'editor-worker.js'}`,
}
const WORKERS = { json: 'json-worker.js', graphql: 'graphql-worker.js' }

globalThis.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), {
  endpoint,
  // With GET, which is the default, the variables of a subscription would be part of its URL.
  method: 'POST',
  subscriptionsProtocol: 'SSE',
  defaultTabs: tabs,
  ...openTab(),
  shouldPersistHeaders: false,
  // By default passwords in variables would stay in the browser for good.
  storage: sessionStorage,
  defaultEditorToolsVisibility: 'variables',
  title: 'Trunkline GraphQL',
})

/**
 * What the editors begin with: the tab whose query the address names, or the tab that was open. GraphiQL does not take it from
 * its tabs, and opens one more tab where no tab has it.
 */
function openTab() {
  const stored = JSON.parse(sessionStorage.getItem('graphiql:tabState') ?? 'null')
  const all = stored?.tabs ?? tabs
  const named = new URL(location.href).searchParams.get('query')
  const open = named === null ? all[stored?.activeTabIndex ?? 0] : all.find(({ query }) => query === named)
  return open === undefined ? {} : { query: open.query, variables: open.variables ?? '' }
}

function credentialOf(body) {
  const takesKey = rootFieldsOf(operationOf(body)).some((field) => keyFields.includes(field))
  return takesKey ? key.value : token.value || key.value
}

function operationOf(body) {
  try {
    return String(JSON.parse(body).query)
  } catch {
    return ''
  }
}

/** The names that stand directly within the outermost braces of a document, outside of texts, comments and arguments. */
function rootFieldsOf(query) {
  const names = []
  let braces = 0
  let parentheses = 0
  // A text without an end is one too, or each quote in it would be taken for the beginning of another.
  for (const [part] of query.matchAll(/"""[\s\S]*?"""|"(?:\\.|[^"\\])*"?|#.*|\w+|[{}()]/g)) {
    if (part === '{') braces++
    else if (part === '}') braces--
    else if (part === '(') parentheses++
    else if (part === ')') parentheses--
    else if (braces === 1 && parentheses === 0 && /^\w/.test(part)) names.push(part)
  }
  return names
}

function keepCredentials({ data }) {
  for (const result of Object.values(data ?? {})) {
    if (result?.accessToken) keep(token, result.accessToken)
    if (result?.fullKey) keep(key, result.fullKey)
  }
}

function keep(field, value) {
  field.value = value
  sessionStorage.setItem(`credential:${field.id}`, value)
}

function inLines(variables) {
  return JSON.stringify(variables, null, 2)
}
