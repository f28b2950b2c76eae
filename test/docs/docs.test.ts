import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { DOCUMENT_BOUNDS } from '@trunkline/gateway/src/core/limits/document-bounds.ts'
import { OPERATION_LIMITS } from '@trunkline/gateway/src/graphql/serving/operation-limits.ts'
import { PARAMETERS } from '@trunkline/gateway/src/openai/request.ts'
import { buildSchema, parse as parseGraphql, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = globSync('**/*.md', { cwd: ROOT, exclude: (path) => /node_modules|\.data/.test(path) }).sort()

const INDEX = 'docs/README.md'
/** Beyond this it is a manual, which is not read before the first start; manuals are pages of docs. */
const README_BYTES_MAX = 12_000
/** What does not concern every change has pages of its own in docs/contributing. */
const CONTRIBUTING_BYTES_MAX = 15_000

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8')

describe.each(PAGES)('%s', (page) => {
  const text = read(page)

  test('has no marks of a merge', () => {
    expect(text).not.toMatch(/^(?:<<<<<<<|>>>>>>>) /m)
  })

  test('links only to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g)]
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(ROOT, target))) return true
      return anchor !== undefined && target.endsWith('.md') && !headingsOf(target).includes(anchor)
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  test('links to a line of a source only by the name of what is declared there', () => {
    const links = [...text.matchAll(/(?:\[`(?:\w+\.)*(\w+)`)?\]\((?!\w+:)([^)#]+)#L([^)]*)\)/g)]
    const wrong = links.filter(([, name, path = '', line = '']) => {
      const source = read(join(dirname(page), path)).split('\n')[Number(line) - 1]
      return name === undefined || source?.includes(name) !== true
    })
    expect(wrong.map(([link]) => link)).toEqual([])
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

test('the GraphQL documents of docs/graphql.md are valid', () => {
  const documents = [...read('docs/graphql.md').matchAll(/^```graphql\n(.*?)^```/gms)].map(
    ([, document = '']) => document,
  )
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
  const { depth, cost, lists } = OPERATION_LIMITS
  const bounds = (['tokens', 'fields', 'aliases', 'equalNames'] as const).flatMap((name) => [
    withCredential[name],
    withoutCredential[name],
  ])
  expect(limits).toEqual(
    [...bounds, depth, depth, cost, cost, lists, lists].map((limit) => limit.toLocaleString('en')),
  )
})

test('the index of the documentation leads to every page once', () => {
  const pages = globSync('docs/{*,contributing/*,{decisions,runbooks}/README}.md', { cwd: ROOT }).filter(
    (page) => page !== INDEX,
  )
  const links = [...read(INDEX).matchAll(/^- \[[^\]]+\]\(([^)#]+)\)/gm)].map(([, path = '']) =>
    join(dirname(INDEX), path),
  )
  expect(links.filter((path) => path.startsWith('docs/')).sort()).toEqual(pages.sort())
})

test('the index of the decisions has each of them once, and a decision is changed by later ones only', () => {
  const folder = 'docs/decisions'
  const decisions = globSync(`${folder}/0*.md`, { cwd: ROOT }).sort()
  const rows = [...read(`${folder}/README.md`).matchAll(/^\| \d{4} +\| \[[^\]]+\]\(([^)]+)\)/gm)]
  expect(rows.map(([, page = '']) => `${folder}/${page}`)).toEqual(decisions)
  const changes = decisions.flatMap((page) => {
    const [, , note = ''] = read(page).split('\n')
    const later = note.startsWith('> Changed by ') ? [...note.matchAll(/\]\((\d{4}-[^)]+)\)/g)] : []
    return later.map(([, by = '']) => [page, `${folder}/${by}`] as const)
  })
  expect(changes).not.toEqual([])
  expect(changes.filter(([page, by]) => by <= page)).toEqual([])
})

test('docs/runtime-tricks.md names files that exist', () => {
  const folders = '{apps/*,packages/*,scripts,bench,test}'
  const exclude = ['**/node_modules', '**/dist']
  const files = globSync(`${folders}/**/*.{ts,mjs}`, { cwd: ROOT, exclude })
  const places = [...read('docs/runtime-tricks.md').matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, place = '']) => place),
  )
  expect(places).not.toEqual([])
  expect(places.filter((place) => !files.some((file) => file.endsWith(`/${place}`)))).toEqual([])
})

test('each of the twelve stations of a chat leads to a line of the sources', () => {
  const stations = read('docs/a-chat-line-by-line.md').match(/^### \d+\. .*$/gm) ?? []
  expect(stations).toHaveLength(12)
  expect(stations.filter((station) => !/\[`[\w.]+`\]\([^)]+\.ts#L\d+\)$/.test(station))).toEqual([])
})

test('CONTRIBUTING.md is read in a quarter of an hour', () => {
  expect(Buffer.byteLength(read('CONTRIBUTING.md'))).toBeLessThanOrEqual(CONTRIBUTING_BYTES_MAX)
})

test('the README fits on a few screens', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThan(README_BYTES_MAX)
})

test('the table of OpenAI parameters matches the implementation', () => {
  expect(wordsOfTable('docs/tools.md', '| Parameter')).toEqual([
    ...PARAMETERS.served,
    ...PARAMETERS.refused,
    ...PARAMETERS.ignored,
  ])
})

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
