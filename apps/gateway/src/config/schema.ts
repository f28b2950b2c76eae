import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { oneOf, section, text } from '#core/agents/entry-schema.ts'
import type { PlatformRegistry } from '#core/agents/registry.ts'
import { expectation } from '#core/requests/input/expectation.ts'
import {
  appReachedBy,
  DEPLOYMENT,
  DEPLOYMENT_APP,
  DeploymentEntry,
  ID_EXPECTED,
  ID_PATTERN,
  isReplaceable,
  KEEP_FILES,
  reachedBy,
  replacing,
  TIMEOUTS,
} from './deployment-entry.ts'
import { count, flag, optionalSection, TIMER_MS_MAX, timerMs, wholeNumber } from './setting-types.ts'
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
  ...appReachedBy("the agent's `apiKey`"),
}

/** How many calls may wait and how long, where the calls in progress are limited and nothing is said. */
export const QUEUE_STANDARD = { queue: 100, waitMs: 10_000 } as const
/** How the name of a platform is looked up. */
const NAMES = oneOf(['dns', 'system'], {
  default: 'dns',
  description:
    'How the name of the platform is looked up: by `/etc/hosts`, `/etc/resolv.conf` and name servers, or as the system does it, which is slower but knows more, such as the DNS of a VPN.',
})

/** The properties of an agent's entry that all platforms have. */
const ENTRY = {
  ...reachedBy((ofEntry) => ofEntry),
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
      connectMs: timeout('connectMs'),
      firstByteMs: timeout('firstByteMs'),
      // The default is the platform's.
      idleMs: Type.Optional(
        wholeNumber({
          maximum: TIMER_MS_MAX,
          description: TIMEOUTS.idleMs[1],
          whenAbsent: '`120000`, for Dify `330000`',
        }),
      ),
      totalMs: timeout('totalMs'),
    },
    { description: 'How long the gateway waits for the platform.' },
  ),
  names: NAMES,
  endGraceMs: timerMs(1_500, {
    description:
      'How long the gateway waits, after the platform has reported the end, for data that follows it.',
  }),
  reasoning: flag({
    default: false,
    description: 'Whether OpenAI-compatible clients receive reasoning, as `reasoning_content`.',
  }),
  thinkTags: flag({
    default: false,
    description:
      'Whether what stands between `<think>` and `</think>` at the beginning of an answer is reasoning. Only for models that write their reasoning so, since other texts may speak of these tags.',
  }),
  tools: oneOf(['refuse', 'ignore'], {
    default: 'refuse',
    description:
      "What becomes of the tools of an OpenAI-compatible request, if the agent's platform takes none: the request is refused, or the tools are left out, for clients that always send some ([tools.md](tools.md#clients-that-always-send-tools)). Platform `openai` gets them in any case.",
  }),
  propagate: flag({
    default: false,
    description:
      'Whether the platform is sent the headers `traceparent` and `tracestate`, so that its own traces continue those of the gateway ([tracing.md](tracing.md)). Only for a platform that you run.',
  }),
  keepFiles: flag({ default: false, description: KEEP_FILES }),
  breaker: flag({
    default: true,
    description:
      'Whether a deployment that fails gets no calls until it answers again, and none of an owner whose own calls fail there. Without it every call is sent, and waits for what becomes of it.',
  }),
  retry: section(
    {
      attempts: count(2, {
        maximum: 5,
        description:
          'The most attempts of one call, the first included. Only what the platform has not taken is sent again.',
      }),
      firstByteMs: Type.Optional(
        wholeNumber({
          maximum: TIMER_MS_MAX,
          description:
            'How long the platform may take to begin its reply while another attempt may follow; at most `timeouts.firstByteMs`.',
          whenAbsent: '`timeouts.firstByteMs` ÷ `retry.attempts`',
        }),
      ),
    },
    { description: 'Further attempts of a call.' },
  ),
  concurrency: optionalSection(
    {
      max: Type.Optional(
        wholeNumber({ description: 'The most calls in progress in one process. Further ones wait.' }),
      ),
      perOwner: Type.Optional(
        wholeNumber({
          description: 'The most calls in progress of one user in one process, with all of its API keys.',
        }),
      ),
      perKey: Type.Optional(
        wholeNumber({
          description:
            'The most calls in progress of one API key in one process. Where it is set, `limits.streamsPerKey` does not apply.',
        }),
      ),
      queue: count(QUEUE_STANDARD.queue, {
        minimum: 0,
        description:
          'The most calls that wait in one process. A further one is answered 503 `agent_overloaded`.',
      }),
      waitMs: timerMs(QUEUE_STANDARD.waitMs, {
        description: 'How long a call waits before it is answered 503 `agent_overloaded`.',
      }),
    },
    { description: 'Limits on the calls in progress; there are none where the section is absent.' },
  ),
}

/** An agent's entry, as far as it is the same for all platforms. */
export const AgentEntry = Type.Object(
  {
    ...ENTRY,
    platform: Type.Optional(Type.String()),
    deployments: Type.Optional(Type.Array(DeploymentEntry)),
  },
  { default: {} },
)
export type AgentEntry = Static<typeof AgentEntry>

/** The defaults of the file. The adapters define the defaults of the properties that only their platform has. */
export const Defaults = section({ agents: agentsOf(AgentEntry), ...SETTINGS })

/**
 * The schema of the configuration file. It accepts the properties of every registered platform in every entry, so that each
 * issue is reported at its own place; `agents.ts` then checks which of them the platform of the entry knows.
 */
export function configFileOf({ names, adapters }: PlatformRegistry) {
  const own = ownProperties(adapters.map((adapter) => adapter.entry.agent))
  const ownOfApps = ownProperties(adapters.map((adapter) => adapter.entry.app))
  const properties = {
    platform: Type.Optional(
      oneOf([...names], {
        description: 'The platform of the agent.',
        whenAbsent: 'the id, if it names a platform',
      }),
    ),
    ...ENTRY,
    ...own,
    apps: appsOf(section({ ...APP, ...ownOfApps })),
  }
  const deployment = section({
    ...replacing(DEPLOYMENT, [...Object.keys(properties), 'deployments'], own),
    apps: appsOf(section(replacing(DEPLOYMENT_APP, Object.keys({ ...APP, ...ownOfApps }), ownOfApps))),
  })
  const entry = section({
    ...properties,
    deployments: Type.Optional(Type.Array(deployment, { expected: 'a list' })),
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
  const perDeployment = properties.some(isReplaceable)
  return Type.Union([...properties], {
    expected: [...expected].join(', or '),
    ...(secret && { secret }),
    ...(perDeployment && { perDeployment }),
  })
}

function timeout(name: keyof typeof TIMEOUTS) {
  const [standard, description] = TIMEOUTS[name]
  return timerMs(standard, { description })
}

function agentsOf<Entry extends TSchema>(entry: Entry) {
  return Type.Record(Type.String({ pattern: ID_PATTERN }), entry, {
    default: {},
    expected: 'a mapping of agent ids',
    expectedKey: `an agent id: ${ID_EXPECTED}`,
  })
}

function appsOf<App extends TSchema>(app: App) {
  return Type.Record(Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]{1,256}$' }), app, {
    default: {},
    expected: 'a mapping of app ids',
    expectedKey: 'an app id of at most 256 characters',
  })
}
