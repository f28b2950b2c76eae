import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const COMPILER = createRequire(import.meta.url).resolve('relay-compiler/cli.js')
const SCHEMA = join(import.meta.dirname, '../../schema.graphql')

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
  'Usage.ts': 'subscription UsageSubscription { usageUpdated { totals { calls } } }',
}

test("Relay's compiler accepts the schema: fragments read again, pages of connections, mutations, subscriptions", async () => {
  const project = await mkdtemp(join(tmpdir(), 'trunkline-relay-'))
  try {
    await mkdir(join(project, 'src'))
    await cp(SCHEMA, join(project, 'schema.graphql'))
    for (const [file, document] of Object.entries(DOCUMENTS)) {
      await writeFile(
        join(project, 'src', file),
        `import { graphql } from 'relay-runtime'\ngraphql\`${document}\`\n`,
      )
    }
    const config = {
      src: './src',
      schema: './schema.graphql',
      language: 'typescript',
      customScalarTypes: { DateTime: 'string', SafeInt: 'number' },
    }
    await writeFile(join(project, 'relay.config.json'), JSON.stringify(config))
    await promisify(execFile)(process.execPath, [COMPILER, 'relay.config.json'], { cwd: project })
    const made = await readdir(join(project, 'src/__generated__'))
    expect(made).toContain('CallListPaginationQuery.graphql.ts')
    // Relay reads a fragment again by `node`.
    expect(made).toContain('UserRowQuery.graphql.ts')
    expect(made).toHaveLength(Object.keys(DOCUMENTS).length + 2)
  } finally {
    await rm(project, { recursive: true })
  }
})
