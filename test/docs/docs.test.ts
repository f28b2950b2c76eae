import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { configFileOf, Environment } from '@trunkline/gateway/src/config/schema.ts'
import { PLATFORMS } from '@trunkline/gateway/src/core/agents/registry.ts'
import { DOCUMENT_BOUNDS } from '@trunkline/gateway/src/core/limits/document-bounds.ts'
import { OPERATION_LIMITS } from '@trunkline/gateway/src/graphql/serving/operation-limits.ts'
import { PARAMETERS } from '@trunkline/gateway/src/openai/request.ts'
import { buildSchema, parse as parseGraphql, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = globSync('**/*.md', { cwd: ROOT, exclude: (path) => /node_modules|\.data/.test(path) }).sort()

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8')

describe.each(PAGES)('%s', (page) => {
  const text = read(page)

  test('links only to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g)]
    const broken = links.filter(([, path = '', heading]) => {
      const target = path === '' ? page : join(dirname(page), path)
      return (
        !existsSync(join(ROOT, target)) || (heading !== undefined && !headingsOf(target).includes(heading))
      )
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  // A code block that names another file shows the settings of another tool.
  const examples = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, example = '']) => example)
  test.each(examples)('shows a configuration that parses (%#)', (example) => {
    const variables = [...example.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, 'a-key'])
    const { agents } = parseConfig(parse(example, { stringKeys: true }), Object.fromEntries(variables))
    expect(agents).not.toEqual([])
  })
})

const SCHEMA = buildSchema(read('schema.graphql'))

test.each(['README.md', 'docs/graphql.md'])('the GraphQL documents of %s are valid', (page) => {
  const documents = [...read(page).matchAll(/^```graphql\n(.*?)^```/gms)].map(([, document = '']) => document)
  expect(documents).not.toEqual([])
  for (const document of documents) expect(validate(SCHEMA, parseGraphql(document)), document).toEqual([])
})

test('docs/graphql.md has the limits of operations as they are', () => {
  const [, table = ''] = read('docs/graphql.md').split('| What ')
  const limits = table
    .split('\n\n', 1)
    .join()
    .match(/[\d,]+(?= +\|)/g)
  const { withCredential, withoutCredential } = DOCUMENT_BOUNDS
  const { depth, cost } = OPERATION_LIMITS
  const bounds = (['tokens', 'fields', 'aliases', 'equalNames'] as const).flatMap((name) => [
    withCredential[name],
    withoutCredential[name],
  ])
  expect(limits).toEqual([...bounds, depth, depth, cost, cost].map((limit) => limit.toLocaleString('en')))
})

const READ_BY_AWS_SDK = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']

test('the README documents every environment variable and every setting of the configuration file', () => {
  const [variables, settings] = ['| Environment', '| File'].map((head) => wordsOfTable('README.md', head))
  expect(new Set(variables)).toEqual(
    new Set(['GATEWAY_CONFIG', 'NODE_ENV', ...READ_BY_AWS_SDK, ...Object.keys(Environment.properties)]),
  )
  const { agents, ...others } = configFileOf(PLATFORMS).properties
  const [entry] = Object.values(agents.patternProperties)
  expect(new Set(settings)).toEqual(
    new Set(['agents.<id>', ...settingsOf({ 'agents.<id>': entry }), ...settingsOf(others)]),
  )
})

test('the table of OpenAI parameters matches the implementation', () => {
  expect(wordsOfTable('docs/tools.md', '| Parameter')).toEqual([
    ...PARAMETERS.served,
    ...PARAMETERS.refused,
    ...PARAMETERS.ignored,
  ])
})

/** The paths of settings as the README writes them: `limits.chat` and `timeouts` are one setting each. */
function settingsOf(schemas: object, parent = ''): string[] {
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const path = `${parent}${name}`
    if (name === 'apps') return [`${path}.<app id>`]
    const isSection = 'properties' in schema && !('points' in schema.properties) && name !== 'timeouts'
    return isSection ? settingsOf(schema.properties, `${path}.`) : [path]
  })
}

/** Converts a heading into its anchor by the rules of GitHub. */
function headingsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Returns the words in code style in the first column of a table. */
function wordsOfTable(page: string, head: string): string[] {
  const [, table = ''] = read(page).split(`\n${head} `)
  return table
    .split('\n\n', 1)
    .join()
    .split('\n')
    .flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word))
}
