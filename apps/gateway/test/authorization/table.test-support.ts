import { fail } from '#core/base/errors/errors.ts'
import { drained } from '#core/lists/all-rows.test-support.ts'
import type { RefusalsInput } from '#core/reports/refusals/refusals-query.ts'
import type { Report } from '#core/reports/reports.ts'
import type { Services } from '#core/services/services.ts'
import type { Call } from '#generated/prisma/client.ts'
import {
  ANSWERING_AGENT,
  type Caller,
  type Callers,
  chatCall,
  FAILING_AGENT,
  keptCall,
  PASSWORD,
  REFUSED_REQUEST,
  REFUSING_LIMIT,
  upload,
} from './callers.test-support.ts'
import {
  ADMIN_KEYS,
  ADMINS,
  type ByPrincipal,
  CALL_STOPPERS,
  CONVERSATION_READERS,
  cells,
  EVERYBODY,
  FOR_UNBOUND,
  forAnybody,
  forCaller,
  KEPT_CALLS,
  KEY_MANAGERS,
  KEY_READERS,
  KEYS,
  LOGGED_IN,
  MANAGERS,
  OWN_PASSWORD,
  open,
  PAUSE_READERS,
  PLAIN_KEYS,
  type Row,
  SHARED,
  STRANGERS,
  TOKENS,
  UPLOAD_READERS,
  UPLOADERS,
  UPLOADS_SEEN,
} from './rows.test-support.ts'

/** The keys whose calls a caller sees; each chat key has made one call. */
const OF_PREMIUM = "premium's chat key, premium's second key"
const CALLS_SEEN: ByPrincipal = {
  ...cells("user's admin key", 'user', 'admin key of a user'),
  premium: OF_PREMIUM,
  ...cells('all', 'admin', 'admin key of an admin'),
  'chat key': "premium's chat key",
  ...cells('nothing', 'upload key', 'neighbour'),
  'chat key of an admin': "admin's chat key",
}
const withPlatform = (seen: string) => `${seen}, with what the platform said`
const CALLS_SHOWN: ByPrincipal = {
  ...CALLS_SEEN,
  ...cells(withPlatform('all'), 'admin', 'admin key of an admin'),
}

/** The call of premium's chat key, as each caller sees it. */
const CALL_SHOWN: ByPrincipal = {
  ...cells('nothing', 'upload key', ...STRANGERS),
  ...cells("premium's chat key", 'premium', 'chat key'),
  ...cells(withPlatform("premium's chat key"), 'admin', 'admin key of an admin'),
}

/** The same of a call that is asked for by its id. */
const CALL_FOUND = refusing(CALL_SHOWN, 'call_not_found')

/** How many of the four calls, or refusals, each caller sees. */
const COUNT_SEEN: ByPrincipal = {
  ...cells('1', 'user', 'chat key', 'chat key of an admin', 'admin key of a user'),
  premium: '2',
  ...cells('4', 'admin', 'admin key of an admin'),
  ...cells('0', 'upload key', 'neighbour'),
}

/** Whose conversations each caller sees. */
const CONVERSATIONS_SEEN: ByPrincipal = {
  ...cells('user', 'user', 'admin key of a user'),
  ...cells('premium', 'premium', 'chat key'),
  ...cells('all', 'admin', 'admin key of an admin'),
  'upload key': 'permission_denied',
  'chat key of an admin': 'admin',
  neighbour: 'nothing',
}

/** Who sees the conversation of a call of premium. */
const CONVERSATIONS_OF_CALL = Object.fromEntries(
  Object.entries(CONVERSATION_READERS).map(([name, cell]) => [name, cell === 'allowed' ? cell : 'nothing']),
) as ByPrincipal

/** The last refusal of one request that each caller sees; it was made with all chat keys one after the other. */
const REFUSAL_FOUND: ByPrincipal = {
  ...CALLS_SEEN,
  premium: "premium's second key",
  ...cells("user's admin key", 'admin', 'admin key of an admin'),
}

const REFUSED: RefusalsInput = { limitName: REFUSING_LIMIT }

/** Who sees what the operator has: the process of a call, and what the platform said. */
const ONLY_ADMINS: ByPrincipal = {
  ...cells('no', 'premium', 'chat key', 'upload key', ...STRANGERS),
  ...cells('yes', 'admin', 'admin key of an admin'),
}

/** Which users callers see one by one. */
const USERS_SEEN: ByPrincipal = {
  ...cells('itself', 'user', 'premium', 'admin key of a user', 'neighbour'),
  ...cells('all', 'admin', 'admin key of an admin'),
  ...cells('nothing', ...PLAIN_KEYS),
}

/** The keys that callers see one by one. */
const KEYS_SEEN = {
  ...cells("user's admin key", 'user', 'admin key of a user'),
  premium: "premium's chat key, premium's second key, premium's upload key",
  ...cells('all', 'admin', 'admin key of an admin'),
  'chat key': "premium's chat key",
  'upload key': "premium's upload key",
  'chat key of an admin': "admin's chat key",
  neighbour: 'nothing',
} as const

/** The keys that callers see in lists. */
const KEYS_LISTED = {
  ...MANAGERS,
  ...cells("user's admin key", 'user', 'admin key of a user'),
  premium: "premium's chat key, premium's second key, premium's upload key",
  ...cells('all', 'admin', 'admin key of an admin'),
  neighbour: 'nothing',
} as const

/** Who sees that premium has keys. */
const KEYS_COUNTED = {
  ...MANAGERS,
  ...cells('nothing', 'user', 'admin key of a user', 'neighbour'),
} as const

/** Every method of the services. The type requires each declared method, and a test compares the rows with the real ones. */
export const TABLE: {
  readonly [Name in keyof Services]: { readonly [Method in keyof Services[Name]]: Row }
} = {
  login: {
    login: open('Anyone who knows the password of a user may log in as that user.'),
    logout: forCaller(TOKENS, SHARED, async ({ userId, role, via }, { services }) =>
      services.login.logout({
        userId,
        role,
        // Revokes another token, since the caller's own one is still needed.
        via: via.kind === 'token' ? { ...via, tokenId: crypto.randomUUID() } : via,
      }),
    ),
  },
  tokens: { jwks: open('The public keys are public.') },
  authentication: {
    authenticate: open('Returns the principal of a credential and refuses an invalid one.'),
    requireKeyFormat: open('Only refuses malformed keys.'),
    isSuspect: open('Says only whether an address has sent too many keys that are not valid.'),
    endUserHeader: open('The name of a header of the configuration.'),
    boundEndUser: open('Returns the end user that the request itself names.'),
  },
  refusedDocuments: {
    count: open('Counts what a sender has sent.'),
    closedSeconds: open('Says only whether a sender has sent too much.'),
  },
  reads: {
    begin: open('Counts a read of whoever asks, and reads nothing itself.'),
    beginLarge: open('Reads nothing itself.'),
  },
  users: {
    create: forCaller(ADMINS, SHARED, (caller, { services }) =>
      services.users.create(caller, {
        username: `u-${crypto.randomUUID()}`,
        password: PASSWORD,
        role: 'admin',
      }),
    ),
    list: forCaller(ADMINS, SHARED, (caller, { services }) => services.users.list(caller, { take: 1 })),
    count: forCaller(ADMINS, SHARED, (caller, { services }) => services.users.count(caller)),
    find: forCaller(ADMINS, SHARED, (caller, { services, all }) =>
      services.users.find(caller, all.otherUserId),
    ),
    findManaged: forCaller(ADMINS, SHARED, (caller, { services, all }) =>
      services.users.findManaged(caller, [all.otherUserId]),
    ),
    findMany: forCaller(USERS_SEEN, SHARED, async (caller, { services, all }) => {
      const rows = await services.users.findMany(caller, [caller.userId, all.otherUserId, 'no id'])
      const ids = rows.map(({ id }) => id)
      if (ids.includes(all.otherUserId)) return 'all'
      return ids.includes(caller.userId) ? 'itself' : 'nothing'
    }),
    findByName: forCaller(ADMINS, SHARED, (caller, { services }) =>
      services.users.findByName(caller, 'other'),
    ),
    isVisibleTo: forCaller(USERS_SEEN, SHARED, async (caller, { services: { users }, all }) => {
      if (users.isVisibleTo(caller, { id: all.otherUserId })) return 'all'
      return users.isVisibleTo(caller, { id: caller.userId }) ? 'itself' : 'nothing'
    }),
    me: forCaller(MANAGERS, SHARED, (caller, { services }) => services.users.me(caller)),
    update: forCaller(ADMINS, SHARED, (caller, { services, all }) =>
      services.users.update(caller, all.otherUserId, { role: 'admin' }),
    ),
    setPassword: forCaller(ADMINS, SHARED, (caller, { services, all }) =>
      services.users.setPassword(caller, all.otherUserId, PASSWORD),
    ),
    changeOwnPassword: forCaller(OWN_PASSWORD, SHARED, (caller, { services }) =>
      services.users.changeOwnPassword(caller, {
        currentPassword: 'a wrong password',
        newPassword: PASSWORD,
      }),
    ),
  },
  keys: {
    check: forCaller(MANAGERS, SHARED, async (caller, { services }) =>
      services.keys.check(caller, { name: 'k' }),
    ),
    create: forCaller({ ...TOKENS, user: 'role_denied', neighbour: 'role_denied' }, SHARED, (caller, call) =>
      call.services.keys.create(caller, newKey(call)),
    ),
    list: forCaller(KEYS_LISTED, SHARED, async (caller, { services, all }) => {
      const keys = await services.keys.list(caller, { take: 100 })
      const ids = keys.map(({ id }) => id)
      return named(all.keyNames, [...all.keyNames.keys()], ids)
    }),
    count: forCaller(refusing(KEYS_COUNTED, 'user_not_found'), SHARED, async (caller, { services, all }) => {
      const ownerId = all.callers.premium.ownerId
      return (await services.keys.count(caller, { ownerId })) > 0 ? 'allowed' : 'nothing'
    }),
    listOfOwners: forCaller(KEYS_LISTED, SHARED, async (caller, { services, all }) => {
      const owners = Object.values(all.callers).map(({ principal }) => principal?.userId ?? '')
      const pages = await services.keys.listOfOwners(caller, [...owners, 'no id'], { take: 100 })
      const ids = [...pages.values()].flat().map(({ id }) => id)
      return named(all.keyNames, [...all.keyNames.keys()], ids)
    }),
    countOfOwners: forCaller(KEYS_COUNTED, SHARED, async (caller, { services, all }) => {
      const { ownerId } = all.callers.premium
      const counts = await services.keys.countOfOwners(caller, [ownerId, 'no id'])
      return (counts.get(ownerId) ?? 0) > 0 ? 'allowed' : 'nothing'
    }),
    find: forCaller(KEY_READERS, SHARED, async (caller, { services, ...call }) =>
      services.keys.find(caller, await call.all.shared.key(call.caller.ownerId)),
    ),
    findManaged: forCaller(KEY_READERS, SHARED, async (caller, { services, ...call }) => {
      const keys = await services.keys.findManaged(caller, [await call.all.shared.key(call.caller.ownerId)])
      return keys[0] ?? fail('key_not_found')
    }),
    findMany: forCaller(KEYS_SEEN, SHARED, async (caller, { services, all }) => {
      const asked = [...all.keyNames.keys()]
      const keys = await services.keys.findMany(caller, [...asked, 'no id'])
      return named(
        all.keyNames,
        asked,
        keys.map(({ id }) => id),
      )
    }),
    isVisibleTo: forCaller(KEYS_SEEN, SHARED, async (caller, { services, all }) => {
      const asked = [...all.keyNames.keys()]
      const admin = all.callers.admin.principal
      const keys = admin === undefined ? [] : await services.keys.findMany(admin, asked)
      const seen = keys.filter((key) => services.keys.isVisibleTo(caller, key))
      return named(
        all.keyNames,
        asked,
        seen.map(({ id }) => id),
      )
    }),
    rateLimits: open('Takes the row of a key, which only those get who may see it.'),
    current: forCaller(KEYS, SHARED, (caller, { services }) => services.keys.current(caller)),
    update: forCaller(KEY_MANAGERS, SHARED, async (caller, { services, ...call }) =>
      services.keys.update(caller, await call.all.shared.key(call.caller.ownerId), { name: 'renamed' }),
    ),
    resetUsage: forCaller(KEY_MANAGERS, SHARED, async (caller, { services, ...call }) =>
      services.keys.resetUsage(caller, await call.all.shared.key(call.caller.ownerId), 'day'),
    ),
    // The key of a plain user is one that an administrator created, since the role does not create keys.
    rotate: forCaller(
      { ...TOKENS, user: 'role_denied', neighbour: 'key_not_found' },
      SHARED,
      async (caller, { services, ...call }) =>
        services.keys.rotate(caller, await call.all.newKey(call.caller.ownerId), {}),
    ),
    checkRotation: open('Only refuses an overlap that no key can have.'),
    // Owners may revoke their keys, also those that another user created.
    revoke: forCaller(KEY_READERS, SHARED, async (caller, { services, ...call }) =>
      services.keys.revoke(caller, await call.all.newKey(call.caller.ownerId)),
    ),
    endPreviousSecret: forCaller(KEY_READERS, SHARED, async (caller, { services, ...call }) =>
      services.keys.endPreviousSecret(caller, await call.all.shared.key(call.caller.ownerId)),
    ),
  },
  agents: {
    list: forAnybody(
      {
        ...cells('all', ...LOGGED_IN, ...ADMIN_KEYS, 'chat key', 'chat key of an admin'),
        anonymous: 'all',
        'upload key': ANSWERING_AGENT,
      },
      SHARED,
      async ({ services, caller }) => {
        const agents = await services.agents.list(caller.principal, '127.0.0.1')
        return agents.length === 2 ? 'all' : agents.map(({ id }) => id).join(', ')
      },
    ),
    findMany: forCaller(
      { ...EVERYBODY, 'upload key': ANSWERING_AGENT },
      SHARED,
      async (caller, { services }) => {
        const agents = services.agents.findMany(caller, [ANSWERING_AGENT, FAILING_AGENT])
        return agents.length === 2 ? 'allowed' : agents.map(({ id }) => id).join(', ')
      },
    ),
    statusOf: forCaller(
      { ...EVERYBODY, 'upload key': 'agent_denied' },
      SHARED,
      async (caller, { services }) => {
        await services.agents.statusOf(caller, FAILING_AGENT)
      },
    ),
    deploymentsOf: forCaller(ADMINS, SHARED, (caller, { services }) =>
      services.agents.deploymentsOf(caller, FAILING_AGENT),
    ),
    models: forCaller({ ...KEYS, 'upload key': ANSWERING_AGENT }, SHARED, async (caller, { services }) => {
      const models = services.agents.models(caller)
      return models.length === 2 ? 'allowed' : models.map(({ id }) => id).join(', ')
    }),
  },
  chat: {
    check: forCaller(KEYS, SHARED, async (caller, { services }) =>
      services.chat.check(caller, chatCall({ credential: '', endUser: undefined }, ANSWERING_AGENT)),
    ),
    startKept: forAnybody(
      { ...KEYS, anonymous: 'credential_malformed', 'upload key': 'permission_denied' },
      SHARED,
      async ({ services, caller }) => {
        await keptCall({ services }, caller)
      },
    ),
    start: forAnybody(
      { ...KEYS, anonymous: 'credential_malformed', 'upload key': 'permission_denied' },
      SHARED,
      async ({ services, caller }) => {
        const call = chatCall(caller, ANSWERING_AGENT)
        const chat = await services.chat.start(call, new AbortController().signal, () => undefined)
        await chat.events.read(() => undefined)
      },
    ),
  },
  replies: {
    resume: forCaller(KEPT_CALLS, 'call_not_found', async (caller, { services, all }) =>
      services.replies.resume(caller, { kind: 'call', callId: await all.shared.keptCall() }, 'events'),
    ),
    reply: forCaller(KEPT_CALLS, 'call_not_found', async (caller, { services, all }) => {
      await services.replies.reply(caller, { kind: 'call', callId: await all.shared.keptCall() })
    }),
    remove: forCaller(KEPT_CALLS, 'call_not_found', async (caller, { services, all }) => {
      await services.replies.remove(caller, { kind: 'call', callId: await all.newKeptCall() })
    }),
  },
  callStops: {
    stop: forCaller(CALL_STOPPERS, 'call_not_found', async (caller, { services, all }) => {
      await services.callStops.stop(caller, { kind: 'call', callId: await all.shared.keptCall() })
    }),
  },
  chatCalls: {
    findRunning: forCaller(CALL_SHOWN, 'nothing', async (caller, { services, all }) => {
      const call = await services.chatCalls.findRunning(async () => caller, all.callId)
      return shown(all, call === null ? [] : [call])
    }),
    findSettled: forCaller(CALL_SHOWN, 'nothing', async (caller, { services, all }) => {
      const call = await services.chatCalls.findSettled(async () => caller, all.callId)
      return shown(all, call === null ? [] : [call])
    }),
  },
  uploads: {
    requireUploader: forCaller(UPLOADERS, SHARED, async (caller, { services }) => {
      services.uploads.requireUploader(caller, undefined)
    }),
    receive: forCaller(UPLOADERS, SHARED, async (principal, { all, caller }) => {
      await upload(all.gateway, principal, caller.credential)
    }),
    find: forCaller(UPLOAD_READERS, 'upload_not_found', async (caller, { services, ...call }) =>
      services.uploads.find(caller, await call.all.shared.upload(call.caller.ownerId)),
    ),
    findMany: forCaller(UPLOADS_SEEN, 'nothing', async (caller, { services, ...call }) => {
      const id = await call.all.shared.upload(call.caller.ownerId)
      const uploads = await services.uploads.findMany(caller, [id, 'no id'])
      return uploads.some((row) => row.id === id) ? 'allowed' : 'nothing'
    }),
    list: forCaller(UPLOADS_SEEN, 'nothing', async (caller, { services, ...call }) => {
      const id = await call.all.shared.upload(call.caller.ownerId)
      const uploads = await services.uploads.list(caller, { take: 100 })
      return uploads.some((row) => row.id === id) ? 'allowed' : 'nothing'
    }),
    listOfKeys: forCaller(UPLOADS_SEEN, 'nothing', async (caller, { services, all, ...call }) => {
      const { id, keyId } = await keyOfUpload(all, await all.shared.upload(call.caller.ownerId))
      const pages = await services.uploads.listOfKeys(caller, [keyId, ...all.keyNames.keys()], {
        take: 100,
      })
      return pages.get(keyId)?.some((row) => row.id === id) ? 'allowed' : 'nothing'
    }),
    countOfKeys: forCaller(UPLOADS_SEEN, 'nothing', async (caller, { services, all, ...call }) => {
      const { keyId } = await keyOfUpload(all, await all.shared.upload(call.caller.ownerId))
      const before = (await services.uploads.countOfKeys(caller, [keyId, 'no id'])).get(keyId) ?? 0
      await all.newUpload(call.caller.ownerId)
      const after = (await services.uploads.countOfKeys(caller, [keyId])).get(keyId) ?? 0
      return after > before ? 'allowed' : 'nothing'
    }),
    count: forCaller(UPLOADS_SEEN, 'nothing', async (caller, { services, ...call }) => {
      const before = await services.uploads.count(caller)
      await call.all.newUpload(call.caller.ownerId)
      return (await services.uploads.count(caller)) > before ? 'allowed' : 'nothing'
    }),
    remove: forCaller(UPLOAD_READERS, 'upload_not_found', async (caller, { services, ...call }) =>
      services.uploads.remove(caller, await call.all.newUpload(call.caller.ownerId)),
    ),
    urlOf: open('Takes the row of an upload, which only its readers get.'),
    openByAddress: open('Whoever has the unguessable URL may read the file.'),
  },
  usage: {
    checkReport: open('Judges the form of a query, and reads nothing.'),
    report: forCaller(CALLS_SEEN, 'nothing', async (caller, { services, all }) => {
      const { groups } = await services.usage.report(caller, {
        groupBy: ['key'],
        agent: FAILING_AGENT,
      })
      const ids = groups.map(({ group }) => group.key ?? '')
      return named(all.keyNames, callingKeys(all), ids)
    }),
    reportBefore: forCaller(CALLS_SEEN, 'nothing', async (caller, { services, all }) => {
      const { groups } = await services.usage.reportBefore(caller, await reportAfterAll(services, all))
      const ids = groups.map(({ group }) => group.key ?? '')
      return named(all.keyNames, callingKeys(all), ids)
    }),
    reportsBeforeOfKeys: forCaller(CALLS_SEEN, 'nothing', async (caller, { services, all }) => {
      const report = await reportAfterAll(services, all)
      const asked = [...all.keyNames.keys(), 'no id']
      const reports = await services.usage.reportsBeforeOfKeys(caller, asked, report)
      const called = [...reports].filter(([, { totals }]) => totals.calls > 0)
      return named(
        all.keyNames,
        callingKeys(all),
        called.map(([id]) => id),
      )
    }),
    reportsOfKeys: forCaller(CALLS_SEEN, 'nothing', async (caller, { services, all }) => {
      const asked = [...all.keyNames.keys(), 'no id']
      const reports = await services.usage.reportsOfKeys(caller, asked, { agent: FAILING_AGENT })
      const called = [...reports].filter(([, { totals }]) => totals.calls > 0)
      return named(
        all.keyNames,
        callingKeys(all),
        called.map(([id]) => id),
      )
    }),
    quota: forCaller(EVERYBODY, SHARED, async (caller, { services }) => {
      const { maxApiCalls } = await services.usage.quota(caller)
      return maxApiCalls > 0 ? 'allowed' : 'nothing'
    }),
    updates: forCaller(COUNT_SEEN, '0', async (caller, { services }) => {
      const updates = await services.usage.updates(caller)
      const { value } = await updates.next()
      await updates.return?.()
      return String(value?.totals.failedCalls)
    }),
  },
  calls: {
    list: forCaller(CALLS_SHOWN, 'nothing', async (caller, { services, all }) =>
      shown(all, await services.calls.list(caller, { agent: FAILING_AGENT }, { take: 100 })),
    ),
    ofParents: forCaller(CALLS_SHOWN, 'nothing', async (caller, { services, all }) => {
      const ids = [...all.keyNames.keys(), 'no id']
      // Without the calls that the rows of this table have made.
      const page = { take: 100, cursor: { id: all.idAfterCalls } }
      const pages = await services.calls.ofParents(caller, { parent: 'key', ids }, page)
      const ofKeys = [...pages.values()].flat().filter(({ agent }) => agent === FAILING_AGENT)
      const owners = Object.values(all.callers).map(({ principal }) => principal?.userId ?? '')
      const ofOwners = await services.calls.ofParents(caller, { parent: 'owner', ids: owners }, page)
      const seen = shown(
        all,
        [...ofOwners.values()].flat().filter(({ agent }) => agent === FAILING_AGENT),
      )
      return shown(all, ofKeys) === seen ? seen : `${shown(all, ofKeys)} by key, ${seen} by owner`
    }),
    count: forCaller(COUNT_SEEN, '0', async (caller, { services }) =>
      String(await services.calls.count(caller, { agent: FAILING_AGENT })),
    ),
    export: forCaller(CALLS_SHOWN, 'nothing', async (caller, { services, all }) => {
      const calls: Call[] = []
      for await (const call of await services.calls.export(caller, { agent: FAILING_AGENT })) calls.push(call)
      return shown(all, calls)
    }),
    seesPlatform: forCaller(ONLY_ADMINS, SHARED, async (caller, { services }) =>
      services.calls.seesPlatform(caller) ? 'yes' : 'no',
    ),
    findInstances: forCaller(ONLY_ADMINS, SHARED, async (caller, { services, all }) =>
      (await services.calls.findInstances(caller, [all.callId, 'no id'])).length === 1 ? 'yes' : 'no',
    ),
    findMany: forCaller(CALL_SHOWN, 'nothing', async (caller, { services, all }) =>
      shown(all, await services.calls.findMany(caller, [all.callId, 'no id'])),
    ),
    find: forCaller(CALL_FOUND, 'call_not_found', async (caller, { services, all }) =>
      shown(all, [await services.calls.find(caller, all.callId)]),
    ),
  },
  conversations: {
    check: forCaller(
      { ...EVERYBODY, 'upload key': 'permission_denied' },
      SHARED,
      async (caller, { services }) => services.conversations.check(caller, {}),
    ),
    list: forCaller(CONVERSATIONS_SEEN, 'nothing', async (caller, { services, all }) =>
      ownersOf(all, await services.conversations.list(caller, { take: 100 }, { agent: FAILING_AGENT })),
    ),
    count: forCaller(
      { ...COUNT_SEEN, 'chat key': '2', 'upload key': 'permission_denied' },
      '0',
      async (caller, { services }) =>
        String(await services.conversations.count(caller, { agent: FAILING_AGENT })),
    ),
    export: forCaller(CONVERSATIONS_SEEN, 'nothing', async (caller, { services, all }) =>
      ownersOf(all, await drained(await services.conversations.export(caller, { agent: FAILING_AGENT }))),
    ),
    find: forCaller(CONVERSATION_READERS, 'conversation_not_found', async (caller, { services, all }) =>
      services.conversations.find(caller, (await all.shared.conversation()).id),
    ),
    findMany: forCaller(CONVERSATION_READERS, 'conversation_not_found', async (caller, { services, all }) => {
      const { id } = await all.shared.conversation()
      const found = await services.conversations.findMany(caller, [id, 'no id'])
      return found[0] ?? fail('conversation_not_found')
    }),
    ofCalls: forCaller(CONVERSATIONS_OF_CALL, 'nothing', async (caller, { services, all }) => {
      const { callId } = await all.shared.conversation()
      const found = await services.conversations.ofCalls(caller, [callId, 'no id'])
      return found.get(callId) === undefined ? 'nothing' : 'allowed'
    }),
    openPauses: forCaller(PAUSE_READERS, 'nothing', async (caller, { services, all }) => {
      const { callId } = await all.shared.pausedConversation()
      const found = await services.conversations.openPauses(caller, [callId, 'no id'])
      return found.get(callId) === undefined ? 'nothing' : 'allowed'
    }),
    messages: forCaller(CONVERSATION_READERS, 'conversation_not_found', async (caller, { services, all }) => {
      const { id } = await all.shared.conversation()
      await services.conversations.messages(caller, id, { limit: 1 })
    }),
    rename: forCaller(CONVERSATION_READERS, 'conversation_not_found', async (caller, { services, all }) => {
      await services.conversations.rename(caller, (await all.shared.conversation()).id, 'a name')
    }),
    remove: forCaller(CONVERSATION_READERS, 'conversation_not_found', async (caller, { services, all }) => {
      await services.conversations.remove(caller, (await all.newConversation()).id)
    }),
    rate: forCaller(
      {
        ...CALL_STOPPERS,
        'upload key': 'permission_denied',
      },
      'call_not_found',
      async (caller, { services, all }) => {
        const { callId } = await all.shared.conversation()
        await services.conversations.rate(caller, callId, { rating: 'up' })
      },
    ),
  },
  endUsers: {
    // Administrators name the owner, and all others can name only themselves.
    erase: forCaller(
      {
        ...MANAGERS,
        ...cells('role_denied', 'user', 'admin key of a user', 'neighbour'),
      },
      'permission_denied',
      async (caller, { services, all }) => {
        const { ownerId } = all.callers.premium
        await services.endUsers.erase(caller, { endUser: 'nobody', ownerId })
      },
    ),
  },
  refusals: {
    checkCounts: open('Judges the form of a query, and reads nothing.'),
    list: forCaller(CALLS_SEEN, FOR_UNBOUND, async (caller, { services, all }) => {
      const rows = await services.refusals.list(caller, REFUSED, { take: 100 })
      return named(all.keyNames, callingKeys(all), keysOf(rows))
    }),
    count: forCaller(COUNT_SEEN, FOR_UNBOUND, async (caller, { services }) =>
      String(await services.refusals.count(caller, REFUSED)),
    ),
    findMany: forCaller(REFUSAL_FOUND, FOR_UNBOUND, async (caller, { services, all }) => {
      const refusals = await services.refusals.findMany(caller, [REFUSED_REQUEST])
      return named(all.keyNames, callingKeys(all), keysOf([...refusals.values()]))
    }),
    counts: forCaller(CALLS_SEEN, FOR_UNBOUND, async (caller, { services, all }) => {
      const counts = await services.refusals.counts(caller, { limitName: REFUSING_LIMIT, per: 'day' })
      return named(all.keyNames, callingKeys(all), keysOf(counts))
    }),
    export: forCaller(CALLS_SEEN, FOR_UNBOUND, async (caller, { services, all }) => {
      const rows = await drained(await services.refusals.export(caller, REFUSED))
      return named(all.keyNames, callingKeys(all), keysOf(rows))
    }),
  },
  audit: {
    list: forCaller(ADMINS, SHARED, (caller, { services }) => services.audit.list(caller, {}, { take: 1 })),
    count: forCaller(ADMINS, SHARED, (caller, { services }) => services.audit.count(caller, {})),
    findMany: forCaller(ADMINS, SHARED, (caller, { services }) => services.audit.findMany(caller, [1])),
    export: forCaller(ADMINS, SHARED, (caller, { services }) => services.audit.export(caller, {})),
    exported: forCaller(EVERYBODY, SHARED, (caller, { services }) =>
      services.audit.exported(caller, 'calls', {}),
    ),
  },
  configuration: {
    // A caller who is told that there is no file may reload it.
    reload: forCaller(
      { ...ADMINS, admin: 'configuration_invalid', 'admin key of an admin': 'configuration_invalid' },
      SHARED,
      (caller, { services }) => services.configuration.reload(caller),
    ),
  },
  processes: { list: forCaller(ADMINS, SHARED, (caller, { services }) => services.processes.list(caller)) },
}

/** The rows by `service.method`. */
export function rowsOf(table: Readonly<Record<string, Readonly<Record<string, Row>>>>): [string, Row][] {
  return Object.entries(table).flatMap(([service, rows]) =>
    Object.entries(rows).map(([method, row]): [string, Row] => [`${service}.${method}`, row]),
  )
}

export function newKey({ caller }: { caller: Caller }) {
  return {
    name: 'a key',
    description: '',
    permissions: ['chat'],
    ownerId: caller.ownerId,
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  }
}

/** The keys that made these calls, and whether the calls show the platform's status. */
function shown(all: Callers, calls: readonly Pick<Call, 'keyId' | 'platformStatus'>[]): string {
  const ids = calls.map(({ keyId }) => keyId)
  const seen = named(all.keyNames, callingKeys(all), ids)
  return calls.some(({ platformStatus }) => platformStatus !== null) ? withPlatform(seen) : seen
}

/** The callers whose conversations these are. */
function ownersOf({ callers }: Callers, rows: readonly { readonly ownerId: string }[]): string {
  const names = (['user', 'premium', 'admin'] as const).filter((name) =>
    rows.some(({ ownerId }) => ownerId === callers[name].principal?.userId),
  )
  if (names.length === 3) return 'all'
  return names.length === 0 ? 'nothing' : names.join(', ')
}

/** A report of an administrator, which is compared with the days of all calls. */
function reportAfterAll(services: Services, { callers }: Callers): Promise<Report> {
  const { principal } = callers.admin
  if (principal === undefined) throw new Error('there is no administrator')
  const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
  const input = { groupBy: ['key'], agent: FAILING_AGENT, compareFrom: from, compareTo: to }
  return services.usage.report(principal, input)
}

function keysOf(refusals: readonly { readonly keyId: string | null }[]): string[] {
  return refusals.map(({ keyId }) => keyId ?? '')
}

/** The ids of the keys that have made a call. */
function callingKeys({ keyNames }: Callers): string[] {
  const names = ["premium's chat key", "premium's second key", "admin's chat key", "user's admin key"]
  return [...keyNames].filter(([, name]) => names.includes(name)).map(([id]) => id)
}

/** An upload, and the key that it was made with. */
function keyOfUpload({ gateway }: Callers, id: string) {
  return gateway.prisma.upload.findUniqueOrThrow({ where: { id }, select: { id: true, keyId: true } })
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

/** The same cells for a method that refuses a caller to whom it would show nothing. */
function refusing(cells: ByPrincipal, reason: string): ByPrincipal {
  const refused = Object.entries(cells).map(([name, seen]) => [name, seen === 'nothing' ? reason : seen])
  return Object.fromEntries(refused) as ByPrincipal
}
