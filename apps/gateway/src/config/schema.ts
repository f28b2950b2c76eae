import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { oneOf, section, text } from '#core/agents/entry-schema.ts'
import type { PlatformRegistry } from '#core/agents/registry.ts'
import { expectation } from '#core/input/expectation.ts'
import { flag, httpUrl, proxyUrl, timerMs } from './setting-types.ts'
import { SETTINGS } from './settings.ts'

/** The properties of an app that all platforms have. */
const APP = {
  name: Type.Optional(
    text({ description: 'The name of the app in the list of agents.', whenAbsent: 'the id of the app' }),
  ),
  default: Type.Optional(
    flag({
      description: 'Whether the app answers calls without `app_id`.',
      whenAbsent: 'only if there is one app',
    }),
  ),
  apiKey: Type.Optional(
    text({ secret: true, description: 'The key for this app.', whenAbsent: "the agent's `apiKey`" }),
  ),
}

/** The properties that say how a platform is connected to. */
const CONNECTION = {
  names: oneOf(['dns', 'system'], {
    default: 'dns',
    description:
      'How the name of the platform is looked up: by `/etc/hosts`, `/etc/resolv.conf` and name servers, or as the system does it, which is slower but knows more, such as the DNS of a VPN.',
  }),
  proxy: Type.Optional(
    proxyUrl({
      secret: true,
      description: 'The proxy through which the platform is reached. It looks up the name of the platform.',
      examples: ['http://proxy.example.com:3128'],
    }),
  ),
  ca: Type.Optional(
    text({
      description:
        'The path of a PEM file with certificate authorities to trust beside the usual ones, for the platform and the proxy. It is read at the start.',
      examples: ['./company-ca.pem'],
    }),
  ),
}

/** The properties of an agent's entry that all platforms have. */
const ENTRY = {
  baseUrl: httpUrl({
    description: 'The URL of the platform, with or without its usual suffix.',
    examples: ['https://api.dify.ai/v1'],
  }),
  apiKey: Type.Optional(text({ secret: true, description: 'The key for the platform.' })),
  apps: appsOf(Type.Object(APP)),
  name: Type.Optional(
    text({ description: 'The name in the list of agents.', whenAbsent: 'derived from the id' }),
  ),
  description: Type.String({
    default: '',
    expected: 'a text',
    description: 'The description in the list of agents.',
  }),
  timeouts: section(
    {
      connectMs: timerMs(5_000, { description: 'How long connecting to the platform may take.' }),
      firstByteMs: timerMs(120_000, { description: 'How long the platform may take to begin its reply.' }),
      idleMs: timerMs(120_000, {
        description: 'How long the platform may send nothing; its keep-alives do not count as data.',
      }),
      totalMs: timerMs(1_200_000, { description: 'How long one call may take in all.' }),
    },
    { description: 'How long the gateway waits for the platform.' },
  ),
  ...CONNECTION,
  endGraceMs: timerMs(1_500, {
    description:
      'How long the gateway waits, after the platform has reported the end, for data that follows it.',
  }),
  reasoning: flag({
    default: false,
    description: 'Whether OpenAI-compatible clients receive reasoning, as `reasoning_content`.',
  }),
}

/** An agent's entry, as far as it is the same for all platforms. */
export const AgentEntry = Type.Object({ ...ENTRY, platform: Type.Optional(Type.String()) }, { default: {} })
export type AgentEntry = Static<typeof AgentEntry>

/** The defaults of the file. The adapters define the defaults of the properties that only their platform has. */
export const Defaults = section({ agents: agentsOf(AgentEntry), ...SETTINGS })

/**
 * The schema of the configuration file. It accepts the properties of every registered platform in every entry, so that each
 * issue is reported at its own place; `agents.ts` then checks which of them the platform of the entry knows.
 */
export function configFileOf({ names, adapters }: PlatformRegistry) {
  const entry = section({
    platform: Type.Optional(
      oneOf([...names], {
        description: 'The platform of the agent.',
        whenAbsent: 'the id, if it names a platform',
      }),
    ),
    ...ENTRY,
    ...ownProperties(adapters.map((adapter) => adapter.entry.agent)),
    apps: appsOf(section({ ...APP, ...ownProperties(adapters.map((adapter) => adapter.entry.app)) })),
  })
  return section({ agents: agentsOf(entry), ...SETTINGS })
}

/** The settings of a validated configuration file, without its agents. */
export type Settings = Omit<Static<typeof Defaults>, 'agents'>

/** The properties of several platforms combined. If a name has several meanings, a value for any of them is accepted. */
function ownProperties(schemas: readonly TObject[]): Record<string, TSchema> {
  const meanings = new Map<string, TSchema[]>()
  for (const { properties } of schemas) {
    for (const [name, property] of Object.entries(properties)) {
      meanings.set(name, [...(meanings.get(name) ?? []), property])
    }
  }
  return Object.fromEntries(
    [...meanings].map(([name, properties]) => [name, Type.Optional(anyOf(properties))]),
  )
}

function anyOf(properties: readonly TSchema[]): TSchema {
  const [first, ...others] = properties
  if (first !== undefined && others.length === 0) return first
  const expected = new Set(properties.map(expectation))
  const secret = properties.some((property) => Reflect.has(property, 'secret'))
  return Type.Union([...properties], { expected: [...expected].join(', or '), ...(secret && { secret }) })
}

function agentsOf<Entry extends TSchema>(entry: Entry) {
  return Type.Record(Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' }), entry, {
    default: {},
    expected: 'a mapping of agent ids',
    expectedKey: 'an agent id: a lower-case letter, then at most 31 lower-case letters, digits and hyphens',
  })
}

function appsOf<App extends TSchema>(app: App) {
  return Type.Record(Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]{1,256}$' }), app, {
    default: {},
    expected: 'a mapping of app ids',
    expectedKey: 'an app id of at most 256 characters',
  })
}
