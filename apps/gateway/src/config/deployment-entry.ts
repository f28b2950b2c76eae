import Type, { type Static, type TSchema } from 'typebox'
import type { Annotations } from '#core/agents/entry-schema.ts'
import { text } from '#core/agents/entry-schema.ts'
import {
  count,
  flag,
  httpUrl,
  optionalSection,
  proxyUrl,
  TIMER_MS_MAX,
  wholeNumber,
} from './setting-types.ts'

/** Ids of agents and of deployments. */
export const ID_PATTERN = '^[a-z][a-z0-9_-]{0,31}$'
export const ID_EXPECTED =
  'a lower-case letter, then at most 31 lower-case letters, digits, hyphens and underscores'

/**
 * How a platform is reached. An entry has these properties, and a deployment may replace each of them: what stands here is
 * inherited without any further code.
 *
 * @param whenAbsent - what applies instead of one that is absent, given what applies to an entry
 */
export function reachedBy(whenAbsent: (ofEntry: string) => string) {
  return {
    baseUrl: Type.Optional(
      httpUrl({
        description: 'The URL of the platform, with or without its usual suffix.',
        examples: ['https://api.dify.ai/v1'],
        whenAbsent: whenAbsent('**required**, here or in every deployment'),
      }),
    ),
    apiKey: Type.Optional(
      text({ secret: true, description: 'The key for the platform.', whenAbsent: whenAbsent('none') }),
    ),
    proxy: Type.Optional(
      proxyUrl({
        secret: true,
        description: 'The proxy through which the platform is reached. It looks up the name of the platform.',
        examples: ['http://proxy.example.com:3128'],
        whenAbsent: whenAbsent('none'),
      }),
    ),
    filesUrl: Type.Optional(
      httpUrl({
        description:
          'Where the files are that the platform makes: the URLs that it gives without an origin get the origin of this one, and with `keepFiles` the gateway fetches from this origin also where its address is private ([uploads.md](uploads.md#files-that-agents-make)).',
        examples: ['https://files.dify.example.com'],
        whenAbsent: whenAbsent('the origin of `baseUrl`, unless it is a private address'),
      }),
    ),
    ca: Type.Optional(
      text({
        description:
          'The path of a PEM file with certificate authorities to trust beside the usual ones, for the platform and the proxy. It is read at the start.',
        examples: ['./company-ca.pem'],
        whenAbsent: whenAbsent('none'),
      }),
    ),
  }
}

/** The same of an entry, where it is off by default, and of a deployment, where it is inherited. */
export const KEEP_FILES =
  'Whether the gateway fetches the files that the platform makes, within the call, and stores them as uploads of the user, so that their URLs do not end before those of uploads ([uploads.md](uploads.md#files-that-agents-make)).'

/** The key of an app, which a deployment may replace as well. */
export function appReachedBy(whenAbsent: string) {
  return { apiKey: Type.Optional(text({ secret: true, description: 'The key for this app.', whenAbsent })) }
}

/** The time limits of an entry in milliseconds, each with its default; a deployment may set some of them. */
export const TIMEOUTS = {
  connectMs: [5_000, 'How long connecting to the platform may take.'],
  firstByteMs: [120_000, 'How long the platform may take to begin its reply.'],
  idleMs: [120_000, 'How long the platform may send nothing; its keep-alives do not count as data.'],
  totalMs: [1_200_000, 'How long one call may take in all.'],
} as const

const INHERITED = "the agent's"

/** The properties of a deployment that all platforms have, but for its apps. */
export const DEPLOYMENT = {
  id: idOf('an id', {
    description:
      'The name of the deployment within its agent: in the log, in metrics, and in the records of calls and conversations.',
    examples: ['eu'],
  }),
  weight: count(1, {
    minimum: 0,
    maximum: 1_000,
    description:
      'Its share of new conversations, compared with the weights of others of its priority. With `0` it serves only the conversations that it has.',
  }),
  disabled: flag({ default: false, description: 'The same as `weight: 0`.' }),
  priority: count(0, {
    minimum: 0,
    maximum: 100,
    description: 'A deployment is used only if none of a lower priority can take the call.',
  }),
  state: Type.Optional(
    idOf('a name', {
      description:
        'The name of what the platform stores for it. Deployments of one name share one database of the platform, so conversations and files may move among them.',
      whenAbsent: 'its own',
    }),
  ),
  formerly: Type.Array(idOf('an id'), {
    default: [],
    expected: 'a list',
    description:
      'Ids of deployments that are gone, whose conversations it has taken over. `main` is the agent before it had a list.',
  }),
  max: Type.Optional(
    wholeNumber({
      description:
        'The most calls in progress at this deployment in one process. Further ones wait, as `concurrency` says.',
    }),
  ),
  ...reachedBy(() => INHERITED),
  keepFiles: Type.Optional(flag({ description: KEEP_FILES, whenAbsent: INHERITED })),
  timeouts: optionalSection({
    connectMs: timeout('connectMs'),
    firstByteMs: timeout('firstByteMs'),
    idleMs: timeout('idleMs'),
    totalMs: timeout('totalMs'),
  }),
}

/** The properties of a deployment's apps that all platforms have. */
export const DEPLOYMENT_APP = appReachedBy("the app's, or else the deployment's `apiKey`")

/** A deployment, as far as it is the same for all platforms. */
export const DeploymentEntry = Type.Object({
  ...DEPLOYMENT,
  apps: Type.Record(Type.String(), Type.Object(DEPLOYMENT_APP), { default: {} }),
})
export type DeploymentEntry = Static<typeof DeploymentEntry>

/** Ends the sentence "expected …" for a property that only the entry may have. */
export const NOT_REPLACEABLE = 'nothing here: it belongs to the agent, whose deployments behave alike'

/**
 * The properties of a mapping that replaces some of another one. The others are refused in words that fit them, since they
 * exist, and are not misspelt.
 *
 * @param properties - those of every platform
 * @param inherited - the names of all properties of the other mapping
 * @param own - the properties of single platforms, some of which may be replaced
 */
export function replacing(
  properties: Readonly<Record<string, TSchema>>,
  inherited: readonly string[],
  own: Readonly<Record<string, TSchema>>,
): Record<string, TSchema> {
  const replaced = Object.entries(own).filter(([, property]) => isReplaceable(property))
  const allowed = { ...properties, ...Object.fromEntries(replaced) }
  const nothing = Type.Optional(
    Type.Refine(Type.Unknown({ expected: NOT_REPLACEABLE, secret: true, isRefused: true }), () => false),
  )
  const others = inherited.filter((name) => !Object.hasOwn(allowed, name))
  return { ...allowed, ...Object.fromEntries(others.map((name) => [name, nothing])) }
}

/** Whether a deployment may replace this property of a platform. */
export function isReplaceable(property: TSchema): boolean {
  return Reflect.get(property, 'perDeployment') === true
}

function idOf(what: string, options: Annotations = {}) {
  return Type.String({ pattern: ID_PATTERN, expected: `${what}: ${ID_EXPECTED}`, ...options })
}

function timeout(name: keyof typeof TIMEOUTS) {
  const [, description] = TIMEOUTS[name]
  return Type.Optional(wholeNumber({ maximum: TIMER_MS_MAX, description, whenAbsent: INHERITED }))
}
