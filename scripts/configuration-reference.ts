import { Environment } from '../apps/gateway/src/config/environment.ts'
import { configFileOf } from '../apps/gateway/src/config/schema.ts'
import { SETTINGS } from '../apps/gateway/src/config/settings.ts'
import type { Annotations } from '../apps/gateway/src/core/agents/entry-schema.ts'
import { PLATFORMS } from '../apps/gateway/src/core/agents/registry.ts'
import { expectation } from '../apps/gateway/src/core/requests/input/expectation.ts'
import { markdownTable } from './generated-parts.ts'

/** What the reference reads of a schema of a setting. */
interface Setting extends Annotations {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Setting
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Setting>>
  /** Whether the schema only names the setting in order to refuse it. */
  readonly isRefused?: boolean
}

/** A section of settings. */
interface Section extends Setting {
  readonly properties: Readonly<Record<string, Setting>>
  /** The names of the properties that must be there, if only with their defaults. */
  readonly required?: readonly string[]
}

type Row = readonly [name: string, type: string, standard: string, description: string]

/** Variables that are read before there is a schema. */
const READ_FIRST: readonly Row[] = [
  [
    '`GATEWAY_CONFIG`',
    'path',
    '`gateway.config.yaml`',
    'The configuration file. If the variable is not set and there is no such file, the gateway starts in sandbox mode, or refuses to start in production.',
  ],
]

/** Variables that the client of S3 reads itself. */
const READ_BY_AWS_SDK: readonly Row[] = [
  [
    '`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`',
    'text',
    'as AWS tools',
    'The credentials for S3. `AWS_SESSION_TOKEN`, profiles and the roles of machines work as well.',
  ],
]

/** Returns the generated part of docs/configuration.md: the variables that the schema of the environment has. */
export function variablesReference(): Record<string, string> {
  return {
    'environment variables': table('Variable', [
      ...READ_FIRST,
      ...rowsOf(Environment, ''),
      ...READ_BY_AWS_SDK,
    ]),
  }
}

/** Returns the generated part of docs/settings.md: the sections of the configuration file but `agents`. */
export function settingsReference(): Record<string, string> {
  const entries = Object.entries<Setting>(SETTINGS)
  const single = Object.fromEntries(entries.filter(([, setting]) => !isSection(setting)))
  const sections = entries.flatMap(([name, setting]) =>
    isSection(setting)
      ? [`## \`${name}\``, described(setting, name), table('Setting', rowsOf(setting, `${name}.`))]
      : [],
  )
  const parts = ['## Single settings', table('Setting', rowsOf({ properties: single }, '')), ...sections]
  return { settings: parts.join('\n\n') }
}

/** Returns the generated part of docs/agent-settings.md: an entry of `agents`. */
export function agentsReference(): Record<string, string> {
  const entry = schemaOfValues(configFileOf(PLATFORMS).properties.agents)
  const { apps, deployments, ...others } = entry.properties
  const [agentPath, appPath] = ['agents.<id>.', 'agents.<id>.apps.<app id>.']
  const parts = [
    table('Setting', rowsOf(withoutOwn('agent', { ...entry, properties: others }), agentPath)),
    '## Settings of one platform',
    `${required()} On an agent of another platform, a setting of this table is an error.`,
    table('Setting', ownRows('agent', agentPath)),
    '## Apps',
    'Without `apps`, clients may choose any app that the platform lets them choose. With `apps`, `app_id` chooses one of these.',
    table('Setting', [
      ...rowsOf(withoutOwn('app', schemaOfValues(apps)), appPath),
      ...ownRows('app', appPath),
    ]),
    '## Deployments',
    'Several platforms, or several keys of one, that answer for the agent: [deployments.md](deployments.md). Without `deployments` there is one, `main`, made of the entry itself. One of the list has the id `main`, or has it under `formerly`. A setting of the agent that is not in this table is the same for all of its deployments.',
    table('Setting', deploymentRows(deployments?.items as Section)),
  ]
  return { agents: parts.join('\n\n') }
}

function deploymentRows(deployment: Section): Row[] {
  const { apps, ...others } = deployment.properties
  const [path, appPath] = ['agents.<id>.deployments[].', 'agents.<id>.deployments[].apps.<app id>.']
  return [
    ...rowsOf(withoutOwn('agent', { ...deployment, properties: others }), path),
    ...ownRows('agent', path, true),
    ...rowsOf(withoutOwn('app', schemaOfValues(apps)), appPath),
    ...ownRows('app', appPath, true),
  ]
}

/** The schema of the values of a mapping whose keys are ids. */
function schemaOfValues(mapping: unknown): Section {
  const [value] = Object.values((mapping as { readonly patternProperties: object }).patternProperties)
  return value as Section
}

/** What each platform needs, as the adapters say. */
function required(): string {
  const platforms = Map.groupBy(PLATFORMS.adapters, ({ entryRequires }) => entryRequires.join(' and '))
  const needs = [...platforms].map(
    ([names, adapters]) =>
      `${names === '' ? 'nothing' : code(names)} for ${inWords(adapters.map(({ platform }) => code(platform)))}`,
  )
  return `Required, in the entry or in each of its apps: ${needs.join('; ')}.`
}

function code(name: string): string {
  return `\`${name}\``
}

/** The properties that all platforms share. */
function withoutOwn(level: 'agent' | 'app', { required, properties }: Section): Section {
  const own = new Set(PLATFORMS.adapters.flatMap(({ entry }) => Object.keys(entry[level].properties)))
  const shared = Object.entries(properties).filter(([name, { isRefused }]) => !own.has(name) && !isRefused)
  return { ...(required !== undefined && { required }), properties: Object.fromEntries(shared) }
}

function ownRows(level: 'agent' | 'app', parent: string, isDeployment = false): Row[] {
  return PLATFORMS.adapters.flatMap(({ platform, entry }) => {
    const all = Object.entries<Setting>(entry[level].properties)
    const own = isDeployment ? all.filter(([, { perDeployment }]) => perDeployment) : all
    return rowsOf({ ...entry[level], properties: Object.fromEntries(own) }, parent).map(
      ([name, type, standard, text]): Row => [
        name,
        type,
        isDeployment ? (level === 'agent' ? "the agent's" : "the app's") : standard,
        `Only for \`${platform}\`. ${text}`,
      ],
    )
  })
}

/** One row for each setting. A section within a section continues the path; a limit is one setting. */
function rowsOf({ properties, required }: Section, parent: string): Row[] {
  return Object.entries(properties).flatMap(([name, setting]): Row[] => {
    const path = `${parent}${name}`
    if (isSection(setting) && !isLimit(setting)) return rowsOf(setting, `${path}.`)
    const examples = (setting.examples ?? []).map((example) => `\`${inYaml(example)}\``).join(' or ')
    const text = `${described(setting, path)}${examples === '' ? '' : ` For example ${examples}.`}`
    const standard = defaultOf(name, setting, required?.includes(name) ?? false)
    return [[`\`${path}\``, typeOf(name, setting), standard, text]]
  })
}

function isSection(setting: Setting): setting is Section {
  return setting.properties !== undefined
}

function isLimit({ properties }: Section): boolean {
  return Object.hasOwn(properties, 'points')
}

function typeOf(name: string, setting: Setting): string {
  if (isSection(setting)) return '`{ points, windowSeconds }`'
  if (setting.type === 'integer') return `${unitOf(name)}${range(setting)}`
  if (setting.enum !== undefined) {
    const values = setting.enum.map((value) => `\`${value}\``)
    return inWords(values, 'or')
  }
  const expected = expectation(setting)
  const text = expected === 'a list' ? `list; each ${expectation(setting.items)}` : expected
  return `${text.replace(/^an? /, '')}${setting.secret ? '; secret' : ''}`
}

function unitOf(name: string): string {
  if (/port$/i.test(name)) return 'port'
  if (/bytes/i.test(name)) return 'bytes'
  if (/Ms$/.test(name)) return 'milliseconds'
  if (/Days$/.test(name)) return 'days'
  if (/Seconds$/.test(name)) return 'seconds'
  return 'whole number'
}

/** The bounds of a number, as far as they are not those of every number. */
function range({ minimum = 1, maximum = Number.MAX_SAFE_INTEGER }: Setting): string {
  const to = maximum.toLocaleString('en')
  if (maximum === Number.MAX_SAFE_INTEGER) return minimum === 1 ? '' : `, from ${minimum}`
  return minimum === 1 ? `, up to ${to}` : `, ${minimum} to ${to}`
}

const MIB = 1024 * 1024

function defaultOf(name: string, setting: Setting, isRequired: boolean): string {
  if (isSection(setting)) {
    const { points, windowSeconds } = setting.properties
    return `${points?.default} in ${windowSeconds?.default} s`
  }
  const { default: standard, whenAbsent } = setting
  if (standard === undefined) return whenAbsent ?? (isRequired ? '**required**' : 'none')
  if (Array.isArray(standard)) return standard.map((item) => `\`${item}\``).join(', ') || 'none'
  if (standard === '') return 'empty'
  if (unitOf(name) !== 'bytes') return `\`${standard}\``
  const mib = Number(standard) / MIB
  return `\`${standard}\` (${mib < 1024 ? `${mib} MiB` : `${mib / 1024} GiB`})`
}

/** @throws Error, so that no setting is forgotten */
function described({ description }: Setting, path: string): string {
  if (description === undefined) throw new Error(`The schema of the setting ${path} lacks a description.`)
  return description
}

/** A value in the notation of JSON, which is YAML as well. */
function inYaml(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(inYaml).join(', ')}]` : JSON.stringify(value)
}

function inWords(items: readonly string[], last = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

function table(head: string, rows: readonly Row[]): string {
  return markdownTable([head, 'Type', 'Default', 'Description'], rows)
}
