/** The password of the user of an example. */
export const PASSWORD = 'a long passphrase'

const CLIENT = `
import { Trunkline as Client } from '@trunkline/sdk'
const { TRUNKLINE_URL: baseURL = '', TRUNKLINE_API_KEY: apiKey, TRUNKLINE_TOKEN: accessToken } = process.env
const client = new Client({ baseURL, apiKey, accessToken })`

const GRAPHQL = `
import { withGraphQL as addGraphQL } from '@trunkline/sdk/graphql'
const gql = addGraphQL(client)`

/** What the `id` in the examples of a class belongs to, and what its lists hold. */
const IDS: Readonly<Record<string, string>> = {
  ApiKeys: `
const expires_at = new Date(Date.now() + 86_400_000).toISOString()
const { id } = await client.apiKeys.create({ name: 'a', description: 'b', permissions: ['chat'], expires_at })`,
  Uploads: `
const { id } = await client.uploads.create(new Blob(['Notes.']), { created_by: 'ada' })`,
  Users: `
const { id } = await client.users.create({ username: \`u\${Date.now()}\`, password: '${PASSWORD}', role: 'user' })`,
}

/** The server of the page in which a browser runs an example. */
const PAGE = `
const network = globalThis.fetch
globalThis.fetch = async (url, init) =>
  url === '/api/chat' ? client.chat.stream({ agent: 'dify', query: 'Hello' }).toResponse() : network(url, init)`

/** What a web framework does with a route handler. */
const REQUEST = `
const body = JSON.stringify({ query: 'Hello' })
const response = await POST(new Request('http://page.test/api/chat', { method: 'POST', body }))
if (!(await response.text()).endsWith('data: [DONE]\\n\\n')) throw new Error('The stream is not complete.')`

/** Returns the example of a name as a whole program, with what it takes for granted: a client with both credentials, an id. */
export function programOf(path: string, example: string): string {
  const [owner = ''] = path.split('.')
  const isForPage = example.includes("fetch('/api/chat'")
  const needsGraphql = takes(example, 'gql')
  const id = takes(example, 'id') || path.endsWith('.list') ? IDS[owner] : undefined
  const needsClient = isForPage || needsGraphql || id !== undefined || takes(example, 'client')
  const parts = [
    needsClient && CLIENT,
    needsGraphql && GRAPHQL,
    id,
    isForPage && PAGE,
    example,
    example.includes('function POST(') && REQUEST,
    'export {}',
  ]
  return parts.filter((part) => typeof part === 'string').join('\n')
}

/** Returns whether the code uses a variable that it does not declare. */
function takes(code: string, name: string): boolean {
  const declaration = new RegExp(`\\b(const|let) (\\{[^}]*\\b)?${name}\\b`)
  return new RegExp(`(?<!\\.)\\b${name}\\b`).test(code) && !declaration.test(code)
}
