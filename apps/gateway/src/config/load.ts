import { resolve } from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { normalizeUsername } from '#core/accounts/users/user-rules.ts'
import { PLATFORMS, type PlatformRegistry } from '#core/agents/registry.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import { isObject } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { withoutTrailing } from '#core/base/values/without-trailing.ts'
import type { BoundsBySender } from '#core/limits/document-bounds.ts'
import { perMinute } from '#core/limits/own-limits.ts'
import { resolveAgents } from './agents.ts'
import { Environment } from './environment.ts'
import { expandVariables, readConfigFile } from './file.ts'
import { FileTexts } from './file-texts.ts'
import { ConfigError, type ConfigIssue, findIssues } from './issues.ts'
import { findMisspeltVariables, type MisspeltVariable } from './misspelt-variables.ts'
import { configFileOf, Defaults, type Settings } from './schema.ts'
import { SETTINGS } from './settings.ts'
import { isTraced, TRACE_VARIABLES, type TracingConfig, tracingOf } from './trace-variables.ts'

export { ConfigError }

const DEFAULT_FILE = 'gateway.config.yaml'
/** In production: longer than the usual periods of health checks, 2 to 5 s. Elsewhere nothing is in front that must notice. */
const ACCEPT_MS = 5_000

type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T
type FileSettings = Immutable<Settings>
type Variables = Static<typeof Environment>

/** The validated settings of the file and the environment, with all defaults filled in. */
export interface Config extends Omit<FileSettings, 'graphql' | 'drain'> {
  readonly production: boolean
  /** Whether npx has started the process. */
  readonly isUnderNpx: boolean
  /** True if there is no configuration file. `agents` is empty then, until the emulators of the platforms have started. */
  readonly sandbox: boolean
  /** What it was made of, for the workers of this process. */
  readonly document: ConfigDocument
  readonly agents: readonly ServedAgent[]
  /** The platforms that agents may be on. */
  readonly platforms: PlatformRegistry
  readonly host: string
  readonly port: number
  /** The URL under which clients reach the gateway, without a slash at its end. */
  readonly publicUrl: string
  /** If absent, health and metrics are served on `port`. */
  readonly opsPort?: number
  readonly dataDir: string
  /** If absent, the embedded database in `dataDir` is used. */
  readonly databaseUrl?: string
  /** If absent, limits are kept in memory. */
  readonly redisUrl?: string
  readonly secretKey?: string
  /** While `secretKey` is changed, the other of the two keys. */
  readonly secretKeyPrevious?: string
  readonly adminUsername: string
  readonly adminPassword?: string
  readonly logLevel: Variables['LOG_LEVEL']
  readonly workers: number
  readonly graphql: GraphqlConfig
  readonly drain: DrainConfig
  /** Variables that are not read, but look as if they should be. */
  readonly misspeltVariables: readonly MisspeltVariable[]
  /** If absent, uploads are kept in `dataDir`. */
  readonly s3?: S3
  /** If absent, nothing is traced. */
  readonly tracing?: TracingConfig
}

export interface GraphqlConfig {
  readonly introspection: boolean
  readonly graphiql: boolean
  readonly documents: Settings['graphql']['documents']
  /** The path of the file with the documents that clients may send. */
  readonly trustedDocuments?: string
  /** How large a document may be; the defaults if it is absent. */
  readonly bounds?: BoundsBySender
}

export interface DrainConfig {
  /** How long calls are still accepted after the signal to stop. */
  readonly acceptMs: number
  /** How long they may go on afterwards. */
  readonly timeoutMs: number
}

export interface S3 {
  readonly bucket: string
  readonly endpoint?: string
  readonly region?: string
  readonly publicUrl?: string
}

/** A configuration file and all that it refers to. Each process that is given it resolves the same configuration. */
export interface ConfigDocument {
  /** The path of the file; absent if there is none. */
  readonly source?: string
  /** The content of the file with variables and files in their places; undefined if there is none. */
  readonly content: unknown
  /** The environment variables that it names. */
  readonly variables: readonly string[]
  /** The texts of the files that it names, by absolute path. */
  readonly files: Readonly<Record<string, string>>
  /** For a worker of a sandbox: the entries of the emulators that its primary runs. */
  readonly sandboxAgents?: Readonly<Record<string, unknown>>
}

/** Where a configuration comes from. Relative paths in it are resolved against `cwd`. */
export interface Origin {
  readonly cwd: string
  readonly source?: string
}

/**
 * Reads the configuration file that `GATEWAY_CONFIG` names, or else `gateway.config.yaml` if it exists, and the environment.
 *
 * @throws {@link ConfigError} with all issues at once
 */
export async function loadConfig(
  env: NodeJS.ProcessEnv,
  cwd: string,
  platforms: PlatformRegistry = PLATFORMS,
): Promise<Config> {
  const named = env.GATEWAY_CONFIG || undefined
  const source = resolve(cwd, named ?? DEFAULT_FILE)
  const file = await readConfigFile(source)
  if (file !== undefined)
    return FileTexts.reading(cwd, (files) => parseFile(file, env, { cwd, source }, platforms, files))
  if (named !== undefined) throw new ConfigError([`GATEWAY_CONFIG: there is no file ${source}`])
  return parseConfig(undefined, env, { cwd }, platforms)
}

/** What the environment alone says, for commands that concern no agents. */
export type EnvironmentConfig = ReturnType<typeof fromVariables>

/**
 * Reads the environment without any configuration file, of which a container for one command has none.
 *
 * @throws {@link ConfigError} with all issues at once
 */
export function loadEnvironment(env: NodeJS.ProcessEnv, cwd: string): EnvironmentConfig {
  const variables = readVariables(env)
  const issues = findIssues(Environment, variables, '')
  if (issues.length > 0 || !Value.Check(Environment, variables)) throw new ConfigError(inLines(issues))
  return fromVariables(variables, cwd)
}

/**
 * Reads which database the environment names. Outside production that is by default the embedded one in `.data`. In production
 * it must be named: where `DATABASE_URL` was forgotten, a command would otherwise succeed on a new, empty database.
 *
 * @throws {@link ConfigError} with all issues at once
 */
export function loadDatabase(
  env: NodeJS.ProcessEnv,
  cwd: string,
): Pick<EnvironmentConfig, 'databaseUrl' | 'dataDir'> {
  const missing = env.NODE_ENV === 'production' ? findMissingDatabase(env) : []
  if (missing.length > 0) throw new ConfigError(inLines(missing))
  return loadEnvironment(env, cwd)
}

/**
 * Validates the content of a configuration file (undefined if there is none) and the environment. Files that it names are read at once,
 * so a process that serves uses {@link loadConfig}.
 *
 * @throws {@link ConfigError} with all issues at once
 */
export function parseConfig(
  file: unknown,
  env: NodeJS.ProcessEnv,
  origin: Origin = { cwd: process.cwd() },
  platforms: PlatformRegistry = PLATFORMS,
): Config {
  return parseFile(file, env, origin, platforms, new FileTexts(origin.cwd))
}

function parseFile(
  file: unknown,
  env: NodeJS.ProcessEnv,
  { cwd, source }: Origin,
  platforms: PlatformRegistry,
  files: FileTexts,
): Config {
  const { value, issues, names } = expandVariables(file, { env, files })
  const document = { content: value, variables: [...names], ...omitUndefined({ source }) }
  return resolveConfig(document, { env, cwd, platforms, files, unresolved: issues })
}

/**
 * The configuration of a document that was read by another process with the same environment.
 *
 * @throws {@link ConfigError} with all issues at once
 */
export function parseDocument(
  document: ConfigDocument,
  env: NodeJS.ProcessEnv,
  cwd: string,
  platforms: PlatformRegistry = PLATFORMS,
): Config {
  return resolveConfig(document, { env, cwd, platforms, files: new FileTexts(cwd, document.files) })
}

interface Resolving {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly platforms: PlatformRegistry
  readonly files: FileTexts
  /** Variables and files of the document that could not be put in their places. */
  readonly unresolved?: readonly ConfigIssue[]
}

function resolveConfig(
  document: Omit<ConfigDocument, 'files'>,
  { env, cwd, platforms, files, unresolved = [] }: Resolving,
): Config {
  const production = env.NODE_ENV === 'production'
  const sandbox = document.content === undefined
  const schema = configFileOf(platforms)
  const settings = Value.Default(Defaults, sandbox ? {} : structuredClone(document.content))
  const { agents, issues } = resolveAgents(isObject(settings) ? settings.agents : undefined, platforms, files)
  const variables = readVariables(env)

  const all = [
    ...unresolved,
    ...findIssues(schema, settings, ''),
    ...(sandbox ? findMissingFile(production) : issues),
    ...findIssues(Environment, variables, ''),
    ...findContradictions(variables),
    ...(production ? findMissingDatabase(env) : []),
    ...findMissingDocuments(settings),
    ...findTooLowOwnLimits(settings),
    ...findMissingEndUserHeader(settings),
  ]
  if (all.length > 0 || !Value.Check(schema, settings) || !Value.Check(Environment, variables)) {
    throw new ConfigError(inLines(all))
  }
  return {
    ...settings,
    ...fromVariables(variables, cwd),
    ...tracingIn(variables, settings),
    graphql: graphqlOf(settings.graphql, production, cwd),
    drain: { ...settings.drain, acceptMs: settings.drain.acceptMs ?? (production ? ACCEPT_MS : 0) },
    misspeltVariables: findMisspeltVariables(env, new Set(document.variables)),
    production,
    isUnderNpx: env.npm_command === 'exec',
    sandbox,
    document: { ...document, files: files.all() },
    agents,
    platforms,
  }
}

/** The variables that are set and not empty, with numbers converted and defaults filled in, but not yet validated. */
function readVariables(env: NodeJS.ProcessEnv): Record<string, unknown> {
  const variables: Record<string, unknown> = {}
  const isForTracing = (name: string) => Object.hasOwn(TRACE_VARIABLES, name)
  const skipped = isTraced(env) ? () => false : isForTracing
  for (const [name, schema] of Object.entries(Environment.properties)) {
    const text = skipped(name) ? undefined : env[name]
    if (text) variables[name] = Type.IsInteger(schema) ? numberIn(text) : text
  }
  Value.Default(Environment, variables)
  return variables
}

/** A text that is not a number, or too large for one, stays a text, so that the issue shows it as it was given. */
function numberIn(text: string): number | string {
  return /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
}

function fromVariables(variables: Variables, cwd: string) {
  const { HOST: host, PORT: port, PUBLIC_URL: publicUrl = localUrl(host, port) } = variables
  return {
    host,
    port,
    publicUrl: withoutTrailing(publicUrl, '/'),
    dataDir: resolve(cwd, variables.DATA_DIR),
    adminUsername: normalizeUsername(variables.ADMIN_USERNAME) ?? variables.ADMIN_USERNAME,
    logLevel: variables.LOG_LEVEL,
    workers: variables.WORKERS,
    ...omitUndefined({
      opsPort: variables.OPS_PORT,
      databaseUrl: variables.DATABASE_URL,
      redisUrl: variables.REDIS_URL,
      secretKey: variables.SECRET_KEY,
      secretKeyPrevious: variables.SECRET_KEY_PREVIOUS,
      adminPassword: variables.ADMIN_PASSWORD,
      s3: fromS3Variables(variables),
    }),
  }
}

function tracingIn(variables: Variables, { trustedProxies }: FileSettings): { tracing?: TracingConfig } {
  const tracing = tracingOf(variables)
  return tracing === undefined ? {} : { tracing: { ...tracing, trustedProxies } }
}

function fromS3Variables(variables: Variables): S3 | undefined {
  if (variables.S3_BUCKET === undefined) return undefined
  return {
    bucket: variables.S3_BUCKET,
    ...omitUndefined({
      endpoint: variables.S3_ENDPOINT,
      region: variables.S3_REGION,
      publicUrl: variables.S3_PUBLIC_URL && withoutTrailing(variables.S3_PUBLIC_URL, '/'),
    }),
  }
}

/** What helps to develop a front end is off in production, unless the file says otherwise. */
function graphqlOf(
  { introspection, graphiql, documents, trustedDocuments, bounds }: Settings['graphql'],
  production: boolean,
  cwd: string,
): GraphqlConfig {
  return {
    introspection: introspection ?? !production,
    graphiql: graphiql ?? !production,
    documents,
    bounds,
    ...(trustedDocuments !== undefined && { trustedDocuments: resolve(cwd, trustedDocuments) }),
  }
}

/** Clients cannot call an address that means "all interfaces", so such an address becomes `localhost`. */
function localUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function findMissingFile(production: boolean): ConfigIssue[] {
  return production
    ? [{ path: 'GATEWAY_CONFIG', problem: `missing, and there is no ${DEFAULT_FILE}: production needs one` }]
    : []
}

/** Otherwise a missing variable would lead to a new, empty database in the working directory, which a container loses. */
function findMissingDatabase({
  DATABASE_URL: databaseUrl,
  DATA_DIR: dataDir,
}: NodeJS.ProcessEnv): ConfigIssue[] {
  if (databaseUrl || dataDir) return []
  const problem = 'missing: production needs it, or DATA_DIR for the embedded database'
  return [{ path: 'DATABASE_URL', problem }]
}

function findContradictions(variables: Record<string, unknown>): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  if (Number(variables.WORKERS) > 1 && variables.DATABASE_URL === undefined) {
    issues.push({
      path: 'WORKERS',
      problem: 'more than 1 needs DATABASE_URL: one process owns the embedded database',
    })
  }
  if (variables.OPS_PORT === variables.PORT && variables.PORT !== 0) {
    issues.push({ path: 'OPS_PORT', problem: 'expected another port than PORT' })
  }
  for (const path of ['S3_ENDPOINT', 'S3_REGION', 'S3_PUBLIC_URL']) {
    if (variables[path] !== undefined && variables.S3_BUCKET === undefined) {
      issues.push({ path, problem: 'means nothing without S3_BUCKET' })
    }
  }
  return issues
}

function findMissingEndUserHeader(settings: unknown): ConfigIssue[] {
  const conversations = isObject(settings) && isObject(settings.conversations) ? settings.conversations : {}
  if (conversations.endUserRequired !== true || conversations.endUserHeader !== undefined) return []
  return [{ path: 'conversations.endUserHeader', problem: 'missing: conversations.endUserRequired is true' }]
}

function findMissingDocuments(settings: unknown): ConfigIssue[] {
  const graphql = isObject(settings) && isObject(settings.graphql) ? settings.graphql : {}
  if (graphql.documents !== 'trusted' || graphql.trustedDocuments !== undefined) return []
  return [{ path: 'graphql.trustedDocuments', problem: 'missing: graphql.documents is trusted' }]
}

/** A key without a limit of its own would have more than one may have. */
function findTooLowOwnLimits(settings: unknown): ConfigIssue[] {
  if (!isObject(settings) || !Value.Check(SETTINGS.limits, settings.limits)) return []
  const { limits } = settings
  return (['chat', 'upload'] as const).flatMap((name) => {
    const [most, least] = [limits.maxPerKey[name], perMinute(limits[name])]
    if (most === undefined || most >= least) return []
    const problem = `expected at least ${least}, which is limits.${name} per minute, got ${most}`
    return [{ path: `limits.maxPerKey.${name}`, problem }]
  })
}

/** Only the first issue of each path is shown, as it explains the others: a variable that is not set is no valid URL either. */
function inLines(issues: readonly ConfigIssue[]): string[] {
  const firsts = new Map<string, string>()
  for (const { path, problem } of issues) {
    if (!firsts.has(path)) firsts.set(path, problem)
  }
  return [...firsts].map(([path, problem]) => `${path || 'the file'}: ${problem}`)
}
