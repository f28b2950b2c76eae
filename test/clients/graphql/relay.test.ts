import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// A process, because Relay's compiler is a program of its own, which reads a schema and documents from the disk.

const COMPILER = createRequire(import.meta.url).resolve('relay-compiler/cli.js')
const ROOT = join(import.meta.dirname, '../../..')
const SCHEMA = join(ROOT, 'schema.graphql')

const DOCUMENTS = {
  'UserRow.ts':
    'fragment UserRow_user on User @refetchable(queryName: "UserRowQuery") { username role lastLogin }',
  'CallList.ts': `fragment CallList_query on Query
    @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" })
    @refetchable(queryName: "CallListPaginationQuery") {
      calls(first: $first, after: $after) @connection(key: "CallList_calls") {
        edges { node { id agentId outcome } }
      }
    }`,
  'Page.ts': 'query PageQuery { me { ...UserRow_user } ...CallList_query }',
  'Login.ts':
    'mutation LoginMutation($input: LoginInput!) { login(input: $input) { accessToken user { ...UserRow_user } } }',
  'KeyList.ts': `fragment KeyList_query on Query
    @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" })
    @refetchable(queryName: "KeyListPaginationQuery") {
      apiKeys(first: $first, after: $after) @connection(key: "KeyList_apiKeys") {
        edges { node { id name isActive } }
      }
    }`,
  'CreateKey.ts': `mutation CreateKeyMutation($input: CreateApiKeyInput!, $connections: [ID!]!) {
    createApiKey(input: $input) {
      fullKey
      apiKey @prependNode(connections: $connections, edgeTypeName: "ApiKeyEdge") { id name isActive }
    }
  }`,
}

/** The documents of the example pages, named as Relay wants it: by their file and by what they are. */
function exampleDocuments(): Record<string, string> {
  const text = readFileSync(join(ROOT, 'examples/react/documents.ts'), 'utf8')
  const documents = [...text.matchAll(/graphql\(`(.*?)`\)/gs)].map(([, document = '']) => document)
  return Object.fromEntries(
    documents.map((document) => {
      const [, kind = '', name = ''] = /(\w+) (\w+)/.exec(document) ?? []
      const suffix = kind === 'fragment' ? '_metrics' : `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
      const renamed = document
        .replace(`${kind} ${name}`, `${kind} Example${name}${suffix}`)
        .replaceAll(/\.\.\.(?=[A-Z])(\w+)/g, '...Example$1_metrics')
      return [`Example${name}.ts`, renamed]
    }),
  )
}

test("Relay's compiler accepts the schema: fragments read again, pages of connections, mutations, subscriptions", async () => {
  const documents = { ...DOCUMENTS, ...exampleDocuments() }
  const project = await mkdtemp(join(tmpdir(), 'trunkline-relay-'))
  try {
    await mkdir(join(project, 'src'))
    await cp(SCHEMA, join(project, 'node_modules/@trunkline/sdk/schema.graphql'))
    for (const [file, document] of Object.entries(documents)) {
      await writeFile(
        join(project, 'src', file),
        `import { graphql } from 'relay-runtime'\ngraphql\`${document}\`\n`,
      )
    }
    const config = {
      src: './src',
      schema: './node_modules/@trunkline/sdk/schema.graphql',
      language: 'typescript',
      customScalarTypes: { DateTime: 'string', SafeInt: 'number' },
    }
    await writeFile(join(project, 'relay.config.json'), JSON.stringify(config))
    await promisify(execFile)(process.execPath, [COMPILER, 'relay.config.json'], { cwd: project })
    const made = await readdir(join(project, 'src/__generated__'))
    expect(made).toContain('CallListPaginationQuery.graphql.ts')
    // Relay reads a fragment again by `node`.
    expect(made).toContain('UserRowQuery.graphql.ts')
    expect(made).toHaveLength(Object.keys(documents).length + 3)
    expect(made).toContain('ExampleChatSubscription.graphql.ts')
  } finally {
    await rm(project, { recursive: true })
  }
})
