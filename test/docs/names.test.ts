import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProgram } from '@trunkline/gateway/src/cli/program.ts'
import { configFileOf } from '@trunkline/gateway/src/config/schema.ts'
import { PLATFORMS } from '@trunkline/gateway/src/core/agents/registry.ts'
import { AUDIT_OPERATIONS } from '@trunkline/gateway/src/core/audit/operations.ts'
import { LIMIT_NAMES } from '@trunkline/gateway/src/core/base/errors/limit-names.ts'
import { API_KEYS } from '@trunkline/gateway/src/resources/api-key.ts'
import { AUDIT_EVENTS } from '@trunkline/gateway/src/resources/audit-event.ts'
import { CALLS } from '@trunkline/gateway/src/resources/call.ts'
import { CONVERSATIONS } from '@trunkline/gateway/src/resources/conversation.ts'
import { snake } from '@trunkline/gateway/src/resources/define/resource.ts'
import { GATEWAY_PROCESS } from '@trunkline/gateway/src/resources/gateway-process.ts'
import { REFUSALS } from '@trunkline/gateway/src/resources/refusal.ts'
import { USERS } from '@trunkline/gateway/src/resources/user.ts'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { CONTRACT } from '../support/contract/contract.ts'
import { alertRules } from '../support/operator-pages.ts'

// What a page names exists: an operator pastes it at night. Metrics are in test/monitoring/rules.test.ts, links in docs.test.ts.

const ROOT = join(import.meta.dirname, '../..')
/** Decisions and the changelog also speak of what there was, or was considered. */
const PAGES = globSync(
  [
    'README.md',
    'CONTRIBUTING.md',
    'docs/*.md',
    'docs/{contributing,runbooks}/*.md',
    '{apps/*,packages/*,deploy,examples,examples/*}/README.md',
  ],
  { cwd: ROOT },
).sort()

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

interface Code {
  readonly page: string
  readonly text: string
}

/** The lines of blocks of code, without the comments of a shell. */
const LINES_OF_BLOCKS: readonly Code[] = PAGES.flatMap((page) =>
  [...read(page).matchAll(/^ *```(\w*).*\n((?:.*\n)*?) *```$/gm)].flatMap(([, language = '', block = '']) => {
    const lines = block.replaceAll(/ *\\\n */g, ' ').split('\n')
    const hasComments = ['sh', 'ini'].includes(language)
    return lines.map((line) => ({ page, text: hasComments ? line.replace(/(^|\s)#.*$/, '') : line }))
  }),
)
/** What is in code style within a sentence. */
const SPANS: readonly Code[] = PAGES.flatMap((page) => {
  const sentences = read(page).replaceAll(/^ *```.*?^ *```$/gms, '')
  return [...sentences.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => ({ page, text }))
})
const CODE = [...LINES_OF_BLOCKS, ...SPANS]

/** Reports each wrong name with its page. */
function wrongIn(
  code: readonly Code[],
  wrongNames: (text: string) => readonly (string | undefined)[],
): string[] {
  return code.flatMap(({ page, text }) =>
    wrongNames(text).flatMap((name) => (name === undefined ? [] : `${page}: ${name}`)),
  )
}

describe('every setting that a page names exists:', () => {
  interface Schema {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly patternProperties?: Readonly<Record<string, Schema>>
    readonly items?: Schema
  }
  const file = configFileOf(PLATFORMS) as Schema
  const agent = Object.values(file.properties?.agents?.patternProperties ?? {})[0]
  /** Pages leave out `agents.<id>` where it is clear. */
  const roots = { ...agent?.properties, ...file.properties }

  function find(schema: Schema | undefined, [name, ...rest]: readonly string[]): Schema | undefined {
    if (schema === undefined || name === undefined) return schema
    const { properties, patternProperties } = schema.items ?? schema
    return find(properties?.[name] ?? Object.values(patternProperties ?? {})[0], rest)
  }
  function namesIn({ properties = {}, patternProperties = {}, items }: Schema): string[] {
    const inner = [
      ...Object.values(properties),
      ...Object.values(patternProperties),
      ...(items ? [items] : []),
    ]
    return [...Object.keys(properties), ...inner.flatMap(namesIn)]
  }

  test('with its path', () => {
    const names: readonly string[] = AUDIT_OPERATIONS
    /** Fields of requests and replies that begin as a section does. */
    const isOfCalls = (name: string) => /^chat\.completion|_/.test(name) || name === 'reasoning.effort'
    const wrong = wrongIn(SPANS, (text) => {
      if (!/^[a-z]\w*(?:\[\])?(?:\.(?:\w+|<[\w ]+>)(?:\[\])?)+$/i.test(text)) return []
      const path = text.replaceAll('[]', '').split('.')
      if (!Object.hasOwn(roots, path[0] ?? '') || isOfCalls(text) || names.includes(text)) return []
      return find({ properties: roots }, path) === undefined ? [text] : []
    })
    expect(wrong).toEqual([])
  })

  test('by its last name, if that has a unit', () => {
    const names = new Set(namesIn(file))
    /** A field of the log, and what an adapter is given. */
    const others = ['queuedMs', 'withinMs']
    const [, pages = ''] = read('docs/README.md').split('For operators:')
    const operators = [
      ...pages
        .split('For contributors:', 1)
        .join()
        .matchAll(/\]\(([^)]+)\)/g),
    ]
    const ofOperators = SPANS.filter(
      ({ page }) =>
        page.startsWith('docs/runbooks/') || operators.some(([, each]) => page === `docs/${each}`),
    )
    const wrong = wrongIn(ofOperators, (text) =>
      /^[a-z]+[A-Z]?\w*(?:Ms|Max|Min|Days|Hours|Seconds)$/.test(text) && ![...names, ...others].includes(text)
        ? [text]
        : [],
    )
    expect(wrong).toEqual([])
  })
})

test('every command of trunkline that a page names exists, with its options', () => {
  const program = createProgram()
  function wrongOf(words: readonly string[]): string | undefined {
    let command = program
    for (const word of words) {
      const inner = command.commands.find((each) => each.name() === word)
      if (inner === undefined) break
      command = inner
    }
    if (command === program) return `trunkline ${words[0]}`
    const options = [...command.options.flatMap(({ long }) => long ?? []), '--help', '--json']
    const flags = words.flatMap((word) => /^--[\w-]+/.exec(word)?.[0] ?? [])
    const unknown = flags.find((flag) => !options.includes(flag))
    if (unknown !== undefined) return `trunkline ${words.join(' ')}: ${unknown}`
    // The first word that is no command of a group, such as `users lst`.
    const at = words.indexOf(command.name()) + 1
    const next = words[at]
    return command.commands.length > 0 && next !== undefined && /^[a-z][\w-]+$/.test(next)
      ? `trunkline ${words.join(' ')}`
      : undefined
  }
  const wrong = wrongIn(CODE, (text) =>
    [...text.matchAll(/(?:^|[\s/])trunkline(?:\.js)? ([a-z][^|;&]*)/g)].map(([, rest = '']) => {
      const words = rest.trim().split(/\s+/)
      // Names of images and containers: `docker build --tag trunkline packages/trunkline`, `docker exec trunkline node …`.
      return /[/.=]|^node$/.test(words[0] ?? '') ? undefined : wrongOf(words)
    }),
  )
  expect(wrong).toEqual([])
})

const OF_PNPM = ['install', 'add', 'changeset', 'exec', 'dlx', 'why']

test('every command of pnpm that a page names is a script, and every scenario of the benchmark a file', () => {
  const scenarios = globSync('bench/scenarios/*.ts', { cwd: ROOT }).map((path) =>
    path.replace(/^.*\/|\.ts$/g, ''),
  )
  const wrong = wrongIn(CODE, (text) =>
    [...text.matchAll(/(?:^|\s)pnpm(?:@12)? ([a-z][\w:-]*)(?: ([a-z][\w-]*))?/g)].map(
      ([line, script = '', more]) => {
        if (!Object.hasOwn(manifest.scripts, script) && !OF_PNPM.includes(script)) return line
        return script === 'bench' && more !== undefined && !scenarios.includes(more) ? line : undefined
      },
    ),
  )
  expect(wrong).toEqual([])
})

test('every script of a package that a page names exists, and installs what a new checkout lacks', () => {
  const packages = globSync('{apps/*,packages/*,tools/*,examples}/package.json', { cwd: ROOT }).map(
    (path) =>
      JSON.parse(read(path)) as {
        readonly name: string
        readonly scripts?: Readonly<Record<string, string>>
      },
  )
  const wrong = wrongIn(CODE, (text) =>
    [...text.matchAll(/pnpm(?:@12)? --filter (@trunkline\/[\w-]+) (?:run )?([a-z][\w:-]*)/g)].map(
      ([line, name, script = '']) => {
        if (OF_PNPM.includes(script)) return undefined
        const scripts = packages.find((each) => each.name === name)?.scripts ?? {}
        const command = scripts[script === 'pack' ? 'prepack' : script]
        return command?.includes('scripts/install.mjs') || command?.includes('scripts/run.mjs')
          ? undefined
          : line
      },
    ),
  )
  expect(wrong).toEqual([])
})

/** But for the placeholders of other programs, such as `{{CHAT_ID}}`. */
const NAMES_IN_CAPITALS = /(?<!\{\{)\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g

test('every environment variable that a page names is read by something', () => {
  const sources = globSync(
    [
      '{apps,packages,bench,scripts,examples,tools}/**/*.{ts,tsx,mjs}',
      'test/{support,clients}/**/*.{ts,tsx,mjs}',
      'deploy/{*,.env.example}',
      '.ci/**/*',
      'package.json',
      'vitest.config.ts',
    ],
    { cwd: ROOT, exclude: ['**/node_modules', '**/dist', '**/*.test.ts', '**/*.md'], withFileTypes: true },
  ).filter((entry) => entry.isFile())
  const ofSources = sources.flatMap(
    ({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8').match(NAMES_IN_CAPITALS) ?? [],
  )
  /** Examples read variables of their own: `process.env.TRUNKLINE_API_KEY`, `${FASTGPT_API_KEY}`. */
  const ofExamples = LINES_OF_BLOCKS.flatMap(({ text }) =>
    [...text.matchAll(/process\.env\.(\w+)|\$\{(\w+)\}/g)].flatMap(
      ([, ofProgram, ofFile]) => ofProgram ?? ofFile ?? [],
    ),
  )
  const known = new Set([...ofSources, ...ofExamples, ...OF_OTHERS])
  const wrong = wrongIn(CODE, (text) =>
    (text.match(NAMES_IN_CAPITALS) ?? []).filter((name) => !known.has(name)),
  )
  expect(wrong).toEqual([])
})

const OF_OTHERS = [
  // Read by clients of OpenAI, by AWS's SDK and by other programs, the last four by Open WebUI.
  ...['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL', 'AWS_PROFILE', 'HTTPS_PROXY'],
  ...['TITLE', 'TAGS', 'FOLLOW_UP', 'AUTOCOMPLETE'].map((what) => `ENABLE_${what}_GENERATION`),
  // A slip on purpose, and a kind of field of Dify's.
  ...['DATABSE_URL', 'FILE_LIST'],
]

test('every alert that a page names is one of the rules', () => {
  const alerts = new Set(alertRules().map(({ alert }) => alert))
  const ours = SPANS.filter(({ page }) => page.startsWith('docs/'))
  expect(
    wrongIn(ours, (text) => (text.match(/\bTrunkline[A-Z]\w+/g) ?? []).filter((name) => !alerts.has(name))),
  ).toEqual([])
})

test('docs/refusals.md has every limit and every cause, and no others', () => {
  const [, tables = ''] = read('docs/refusals.md').split('## Limits and causes')
  const rows = [...tables.matchAll(/^\| (`[^|]*`) *\|/gm)].flatMap(
    ([, cell = '']) => cell.match(/[a-z_]+/g) ?? [],
  )
  const names = rows.filter((name) => name !== 'limit' && name !== 'cause')
  expect([...new Set(names)].sort()).toEqual([...LIMIT_NAMES].sort())
})

test('every route of the REST API that a page names exists, with its method and parameters', () => {
  interface Operation {
    readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  }
  const paths = Object.entries(CONTRACT.paths as Record<string, Record<string, Operation>>)
  const partsOf = (path: string) => path.split('/').filter((part) => part !== '')
  const fits = (path: string, template: string) => {
    const [parts, expected] = [partsOf(path), partsOf(template)]
    return (
      parts.length === expected.length &&
      expected.every((part, at) => part.startsWith('{') || part === parts[at])
    )
  }
  const wrong = wrongIn(CODE, (text) =>
    [
      ...text.matchAll(
        /(?:\b(GET|POST|PUT|PATCH|DELETE) )?[^\s"'`]*?(\/api\/v1\/[^\s"'`?#),]*)(?:\?([^\s"'`#]*))?/g,
      ),
    ].map(([name, method, path = '', query = '']) => {
      // `/api/v1/…` stands for all of them.
      if (/[…*]|\.\.\./.test(path)) return undefined
      const operations = paths
        .filter(([template]) => fits(path, template))
        .flatMap(([, each]) => Object.entries(each))
      const found = operations.filter(([each]) => method === undefined || each === method.toLowerCase())
      if (found.length === 0) return name
      const known = found.flatMap(([, { parameters = [] }]) =>
        parameters.filter((each) => each.in === 'query'),
      )
      const asked = [...query.matchAll(/(?:^|&)([a-z_]+)=/g)].map(([, parameter]) => parameter)
      return asked.every((parameter) => known.some((each) => each.name === parameter)) ? undefined : name
    }),
  )
  expect(wrong).toEqual([])
})

test.each([
  [['refusals', 'usage'], REFUSALS],
  [['audit', 'production'], AUDIT_EVENTS],
  [['conversations'], CONVERSATIONS],
  [['usage'], CALLS],
  [['keys'], API_KEYS],
  [['keys'], USERS],
  [['production'], { of: GATEWAY_PROCESS, conditions: { state: undefined } }],
])('the pages %j name every condition and every field of their list', (pages, { of, conditions }) => {
  const code = CODE.filter(({ page }) => pages.some((each) => page === `docs/${each}.md`))
  const named = new Set(code.flatMap(({ text }) => text.match(/[a-z_]+/g) ?? []))
  const names = [...Object.keys(conditions).map(snake), ...of.columns]
  expect(names.filter((name) => !named.has(name))).toEqual([])
})

test('every example names the address of the gateway as all others do', () => {
  const NAMES = ['http://127.0.0.1:8080', 'https://gateway.example.com', '$TRUNKLINE_URL']
  const sources = globSync(
    ['examples/**/*.{ts,tsx}', 'packages/sdk/src/**/*.ts', 'apps/console/vite.config.ts'],
    {
      cwd: ROOT,
      exclude: ['**/node_modules/**', '**/generated/**', '**/*.test.ts', '**/*.test-support.ts'],
    },
  )
  const addresses = [
    // What stands before a path of the gateway, names its port, or is named after it.
    /(?:https?:\/\/[^\s/'"`)]+|\$\{?[A-Z]\w*\}?)(?=\/(?:api\/v1|graphql(?!\/)|openapi\.json|schema\.graphql|llms\.txt)\b)/g,
    /https?:\/\/[^\s/'"`)]+:8080\b/g,
    /https?:\/\/(?:gateway|trunkline)\.[\w.-]+/g,
    // What a program reads from its environment, and a shell sets.
    /(?<=process\.env\.|^)\w*(?:URL|GATEWAY)(?==| \?\?)/gm,
  ]
  const found = [...PAGES, ...sources]
    .filter((file) => file !== 'packages/sandbox/README.md')
    .flatMap((file) =>
      addresses.flatMap((address) => (read(file).match(address) ?? []).map((name) => [file, name])),
    )
  const wrong = found.filter(([, name = '']) => !NAMES.includes(/^\w+$/.test(name) ? `$${name}` : name))
  expect(wrong.map((each) => each.join(': '))).toEqual([])
  expect(found.length).toBeGreaterThan(50)
})

test('every path of the repository that a page names exists', () => {
  const FOLDERS = 'apps|bench|deploy|docs|examples|packages|prisma|scripts|test|tools|\\.ci|\\.changeset'
  /** What a build or a test makes. */
  const isBuilt = (path: string) =>
    /\/(?:dist|node_modules)(?:\/|$)|\.tgz$|^packages\/sdk\/reference/.test(path)
  const wrong = wrongIn(CODE, (text) =>
    [...text.matchAll(new RegExp(`(?:^|\\s)((?:${FOLDERS})/[\\w./{},*-]*[\\w*}])`, 'g'))].map(
      ([, path = '']) => {
        const exists = globSync(path, { cwd: ROOT }).length > 0
        return exists || isBuilt(path) ? undefined : path
      },
    ),
  )
  expect(wrong).toEqual([])
})

describe('ports', () => {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>
  }
  const opsPort = services['gateway-a']?.environment?.OPS_PORT

  test('every port of a gateway is that of compose.yaml', () => {
    const files = [
      'deploy/prometheus/prometheus.example.yaml',
      'deploy/haproxy.cfg',
      'deploy/nginx.conf',
      ...PAGES,
    ]
    const wrong = files.flatMap((file) =>
      [...read(file).matchAll(/\bgateway-\w+:(\d+)/g)]
        .filter(([, port]) => port !== '8080' && port !== opsPort)
        .map(([name]) => `${file}: ${name}`),
    )
    expect(wrong).toEqual([])
    expect(read('deploy/prometheus/prometheus.example.yaml')).toContain(`gateway-a:${opsPort}`)
  })

  test('health is checked where compose.yaml serves it', () => {
    const page = read('docs/deploying.md')
    const ports = page.matchAll(
      /health_port (\d+)|name: ops, containerPort: (\d+)|metrics are on port (\d+)/g,
    )
    expect([...ports].map((port) => port.slice(1).find(Boolean))).toEqual([opsPort, opsPort, opsPort])
    expect(read('deploy/haproxy.cfg')).toContain(`default-server port ${opsPort} check`)
  })
})
