import type { Services } from '#core/services/services.ts'
import type { Call } from '#generated/prisma/client.ts'
import {
  ANSWERING_AGENT,
  type Caller,
  type Callers,
  chatCall,
  FAILING_AGENT,
  PASSWORD,
} from './callers.test-support.ts'
import {
  ADMINS,
  type ByPrincipal,
  forAnybody,
  forCaller,
  KEY_MANAGERS,
  KEY_READERS,
  KEYS,
  MANAGERS,
  open,
  type Row,
  TOKENS,
} from './rows.test-support.ts'

/** The keys whose calls a caller sees; each chat key has made one call. */
const OF_PREMIUM = "premium's chat key, premium's second key"
const CALLS_SEEN: ByPrincipal = {
  user: "user's admin key",
  premium: OF_PREMIUM,
  admin: 'all',
  'chat key': "premium's chat key",
  'upload key': 'nothing',
  'admin key of an admin': 'all',
  'chat key of an admin': "admin's chat key",
  'admin key of a user': "user's admin key",
  neighbour: 'nothing',
}
const withPlatform = (seen: string) => `${seen}, with what the platform said`
const CALLS_SHOWN: ByPrincipal = {
  ...CALLS_SEEN,
  admin: withPlatform('all'),
  'admin key of an admin': withPlatform('all'),
}

/** Every method of the services. The type requires each declared method, and a test compares the rows with the real ones. */
export const TABLE: {
  readonly [Name in keyof Services]: { readonly [Method in keyof Services[Name]]: Row }
} = {
  login: {
    login: open('Anyone who knows the password of a user may log in as that user.'),
    logout: forCaller(TOKENS, async ({ userId, role, via }, { services }) =>
      services.login.logout({
        ...{ userId, role },
        // Revokes another token, since the caller's own one is still needed.
        via: via.kind === 'token' ? { ...via, tokenId: crypto.randomUUID() } : via,
      }),
    ),
  },
  tokens: { jwks: open('The public keys are public.') },
  authentication: {
    authenticate: open('Returns the principal of a credential and refuses an invalid one.'),
    requireKeyFormat: open('Only refuses malformed keys.'),
  },
  users: {
    create: forCaller(ADMINS, (caller, { services }) =>
      services.users.create(caller, {
        username: `u-${crypto.randomUUID()}`,
        password: PASSWORD,
        role: 'admin',
      }),
    ),
    list: forCaller(ADMINS, (caller, { services }) => services.users.list(caller, { take: 1 })),
    count: forCaller(ADMINS, (caller, { services }) => services.users.count(caller)),
    find: forCaller(ADMINS, (caller, { services, all }) => services.users.find(caller, all.otherUserId)),
    findByName: forCaller(ADMINS, (caller, { services }) => services.users.findByName(caller, 'other')),
    visibleTo: forCaller(
      {
        ...MANAGERS,
        user: 'itself',
        premium: 'itself',
        'admin key of a user': 'itself',
        neighbour: 'itself',
      },
      async (caller, { services }) =>
        JSON.stringify(services.users.visibleTo(caller)).includes(caller.userId) ? 'itself' : 'allowed',
    ),
    isVisibleTo: forCaller(
      {
        user: 'itself',
        premium: 'itself',
        admin: 'all',
        'chat key': 'nothing',
        'upload key': 'nothing',
        'admin key of an admin': 'all',
        'chat key of an admin': 'nothing',
        'admin key of a user': 'itself',
        neighbour: 'itself',
      },
      async (caller, { services: { users }, all }) => {
        if (users.isVisibleTo(caller, { id: all.otherUserId })) return 'all'
        return users.isVisibleTo(caller, { id: caller.userId }) ? 'itself' : 'nothing'
      },
    ),
    me: forCaller(MANAGERS, (caller, { services }) => services.users.me(caller)),
    update: forCaller(ADMINS, (caller, { services, all }) =>
      services.users.update(caller, all.otherUserId, { role: 'admin' }),
    ),
    setPassword: forCaller(ADMINS, (caller, { services, all }) =>
      services.users.setPassword(caller, all.otherUserId, PASSWORD),
    ),
    // A caller who gets the error about the wrong current password is allowed to change the password.
    changeOwnPassword: forCaller(
      {
        ...MANAGERS,
        user: 'invalid_request',
        premium: 'invalid_request',
        admin: 'invalid_request',
        'admin key of an admin': 'invalid_request',
        'admin key of a user': 'invalid_request',
        neighbour: 'invalid_request',
      },
      (caller, { services }) =>
        services.users.changeOwnPassword(caller, {
          currentPassword: 'a wrong password',
          newPassword: PASSWORD,
        }),
    ),
  },
  keys: {
    create: forCaller({ ...TOKENS, user: 'role_denied', neighbour: 'role_denied' }, (caller, call) =>
      call.services.keys.create(caller, newKey(call)),
    ),
    list: forCaller(
      {
        ...MANAGERS,
        user: "user's admin key",
        premium: "premium's chat key, premium's second key, premium's upload key",
        admin: 'all',
        'admin key of an admin': 'all',
        'admin key of a user': "user's admin key",
        neighbour: 'nothing',
      },
      async (caller, { services, all }) => {
        const keys = await services.keys.list(caller, { take: 100 })
        const ids = keys.map(({ id }) => id)
        return named(all.keyNames, [...all.keyNames.keys()], ids)
      },
    ),
    count: forCaller(
      { ...MANAGERS, user: 'nothing', 'admin key of a user': 'nothing', neighbour: 'nothing' },
      async (caller, { services, all }) => {
        const ownerId = all.callers.premium.ownerId
        return (await services.keys.count(caller, { ownerId })) > 0 ? 'allowed' : 'nothing'
      },
    ),
    visibleTo: forCaller(
      {
        ...MANAGERS,
        user: 'its own',
        premium: 'its own',
        'admin key of a user': 'its own',
        neighbour: 'its own',
      },
      async (caller, { services }) =>
        JSON.stringify(services.keys.visibleTo(caller)).includes(caller.userId) ? 'its own' : 'allowed',
    ),
    find: forCaller(KEY_READERS, async (caller, { services, ...call }) =>
      services.keys.find(caller, await call.all.newKey(call.caller.ownerId)),
    ),
    current: forCaller(KEYS, (caller, { services }) => services.keys.current(caller)),
    update: forCaller(KEY_MANAGERS, async (caller, { services, ...call }) =>
      services.keys.update(caller, await call.all.newKey(call.caller.ownerId), { name: 'renamed' }),
    ),
    resetUsage: forCaller(KEY_MANAGERS, async (caller, { services, ...call }) =>
      services.keys.resetUsage(caller, await call.all.newKey(call.caller.ownerId), 'day'),
    ),
    revoke: forCaller(KEY_MANAGERS, async (caller, { services, ...call }) =>
      services.keys.revoke(caller, await call.all.newKey(call.caller.ownerId)),
    ),
  },
  agents: {
    list: forAnybody(
      {
        nobody: 'all',
        user: 'all',
        premium: 'all',
        admin: 'all',
        'chat key': 'all',
        'upload key': ANSWERING_AGENT,
        'admin key of an admin': 'all',
        'chat key of an admin': 'all',
        'admin key of a user': 'all',
        neighbour: 'all',
      },
      async ({ services, caller }) => {
        const agents = await services.agents.list(caller.principal, '127.0.0.1')
        return agents.length === 2 ? 'all' : agents.map(({ id }) => id).join(', ')
      },
    ),
    models: forCaller({ ...KEYS, 'upload key': ANSWERING_AGENT }, async (caller, { services }) => {
      const models = services.agents.models(caller)
      return models.length === 2 ? 'allowed' : models.map(({ id }) => id).join(', ')
    }),
  },
  chat: {
    start: forAnybody(
      { ...KEYS, nobody: 'credential_malformed', 'upload key': 'permission_denied' },
      async ({ services, caller }) => {
        const call = chatCall(caller.credential, ANSWERING_AGENT)
        const chat = await services.chat.start(call, new AbortController().signal, () => undefined)
        await chat.events.read(() => undefined)
      },
    ),
  },
  usage: {
    report: forCaller(CALLS_SEEN, async (caller, { services, all }) => {
      const { series } = await services.usage.report(caller, {
        ...{ groupBy: ['key'], agent: FAILING_AGENT },
      })
      const ids = series.map(({ group }) => group.key ?? '')
      return named(all.keyNames, callingKeys(all), ids)
    }),
    calls: forCaller(CALLS_SHOWN, async (caller, { services, all }) =>
      shown(all, await services.usage.calls(caller, { agent: FAILING_AGENT }, { take: 100 })),
    ),
    exportCalls: forCaller(CALLS_SHOWN, async (caller, { services, all }) => {
      const calls: Call[] = []
      for await (const call of await services.usage.exportCalls(caller, { agent: FAILING_AGENT }))
        calls.push(call)
      return shown(all, calls)
    }),
    findCall: forCaller(
      {
        user: 'nothing',
        premium: "premium's chat key",
        admin: withPlatform("premium's chat key"),
        'chat key': "premium's chat key",
        'upload key': 'nothing',
        'admin key of an admin': withPlatform("premium's chat key"),
        'chat key of an admin': 'nothing',
        'admin key of a user': 'nothing',
        neighbour: 'nothing',
      },
      async (caller, { services, all }) => {
        const call = await services.usage.findCall(caller, all.callId)
        return shown(all, call === null ? [] : [call])
      },
    ),
  },
}

/** The rows by `service.method`. */
export function rowsOf(table: Readonly<Record<string, Readonly<Record<string, Row>>>>): [string, Row][] {
  return Object.entries(table).flatMap(([service, rows]) =>
    Object.entries(rows).map(([method, row]): [string, Row] => [`${service}.${method}`, row]),
  )
}

export function newKey({ caller }: { caller: Caller }) {
  return {
    ...{ name: 'a key', description: '', permissions: ['chat'], ownerId: caller.ownerId },
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  }
}

/** The keys that made these calls, and whether the calls show the platform's status. */
function shown(all: Callers, calls: readonly Pick<Call, 'keyId' | 'platformStatus'>[]): string {
  const ids = calls.map(({ keyId }) => keyId)
  const seen = named(all.keyNames, callingKeys(all), ids)
  return calls.some(({ platformStatus }) => platformStatus !== null) ? withPlatform(seen) : seen
}

/** The ids of the keys that have made a call. */
function callingKeys({ keyNames }: Callers): string[] {
  const names = ["premium's chat key", "premium's second key", "admin's chat key", "user's admin key"]
  return [...keyNames].filter(([, name]) => names.includes(name)).map(([id]) => id)
}

/** Which of these keys are among the seen ones. */
function named(
  names: ReadonlyMap<string, string>,
  keyIds: readonly string[],
  seen: readonly string[],
): string {
  const known = keyIds.filter((id) => seen.includes(id)).map((id) => names.get(id) ?? id)
  if (known.length === keyIds.length) return 'all'
  return known.length === 0 ? 'nothing' : known.sort().join(', ')
}
