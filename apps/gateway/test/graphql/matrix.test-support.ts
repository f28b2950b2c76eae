import type { ChatHead } from '#core/calls/request/chat-head.ts'
import { keptItems } from '#graphql/streams/kept-items.ts'
import {
  ANSWERING_AGENT,
  AUDITED_OPERATION,
  BOB,
  type Caller,
  type Callers,
  FAILING_AGENT,
  PASSWORD,
  REFUSED_REQUEST,
  REFUSING_LIMIT,
} from '../authorization/callers.test-support.ts'
import {
  ADMINS,
  type ByPrincipal,
  CALL_STOPPERS,
  CONVERSATION_READERS,
  cells,
  EVERYBODY,
  FOR_UNBOUND,
  type ForOthers,
  KEPT_CALLS,
  KEY_MANAGERS,
  KEY_READERS,
  KEYS,
  MANAGERS,
  OWN_PASSWORD,
  PAUSE_READERS,
  PLAIN_KEYS,
  SHARED,
  TOKENS,
  UPLOAD_READERS,
  UPLOADERS,
  UPLOADS_SEEN,
} from '../authorization/rows.test-support.ts'
import type { Any } from './face.test-support.ts'

export interface MatrixCall {
  readonly all: Callers
  readonly caller: Caller
}

type Text = string | ((call: MatrixCall) => string | Promise<string>)

/** A field with all of its arguments, and what each kind of caller gets from it. */
export interface MatrixRow {
  /** The field as a document writes it, without its selection. */
  readonly field: Text
  /** The document around a field that is not at the root, with `$FIELD` in its place. */
  readonly within?: Text
  readonly cells: ByPrincipal & { readonly anonymous: string }
  readonly forOthers: ForOthers
  /** What the caller sees in the value of the field; by default `allowed`, or `nothing` for null and for no items. */
  readonly see?: (value: Any, call: MatrixCall) => string
}

const missing = 'credential_missing'
const row = (
  cells: ByPrincipal & { readonly anonymous?: string },
  forOthers: ForOthers,
  field: Text,
  rest: Pick<MatrixRow, 'within' | 'see'> = {},
): MatrixRow => ({ cells: { anonymous: missing, ...cells }, forOthers, field, ...rest })

const PAGE_AHEAD = 'first: 100, after: null'
const PAGE = `${PAGE_AHEAD}, last: null, before: null`
const ORDERED_PAGE = `search: null, orderBy: CREATED_AT, order: null, ${PAGE}`
const keyOf = ({ all, caller }: MatrixCall) => all.shared.key(caller.ownerId)
const uploadOf = ({ all, caller }: MatrixCall) => all.shared.upload(caller.ownerId)
const NONE_FOR_KEYS = cells('nothing', ...PLAIN_KEYS)
const OWN_CALLS: ByPrincipal = { ...EVERYBODY, 'upload key': 'nothing', neighbour: 'nothing' }
/** Where an object is visible, its open question is to those that may answer it. */
const pauseCells = (object: ByPrincipal): ByPrincipal => ({
  ...object,
  ...Object.fromEntries(
    Object.entries(PAUSE_READERS).filter(([name]) => object[name as keyof ByPrincipal] === 'allowed'),
  ),
})
const WITH_PLATFORM = 'allowed, with what the platform said'
const WITH_DEPLOYMENTS = 'allowed, with the deployments'
/** Only administrators see what the platform answered. */
const shownTo = (unshown: ByPrincipal): ByPrincipal => ({
  ...unshown,
  ...cells(WITH_PLATFORM, 'admin', 'admin key of an admin'),
})
const REPORTED = `usage(filter: { agentId: "${FAILING_AGENT}" }, granularity: DAY, groupBy: [KEY, USER, AGENT], compareFrom: null, compareTo: null, timezone: "UTC")`
/** A report that has no calls itself. */
const COMPARED = `usage(filter: { agentId: "${FAILING_AGENT}", from: "${day(1)}", to: "${day(2)}" }, granularity: DAY, groupBy: [KEY, USER, AGENT], compareFrom: "${day(-1)}", compareTo: "${day(1)}", timezone: "UTC")`

const REFUSAL = `{ refusal(requestId: "${REFUSED_REQUEST}") { $FIELD } }`
const REFUSALS_COUNTED = `refusalCounts(filter: { limitName: "${REFUSING_LIMIT}" }, per: DAY, timezone: "UTC")`
const AUDITED = `{ auditEvents(filter: { operation: "${AUDITED_OPERATION}" }) { nodes { $FIELD } } }`

const CHAT = `chat(input: { agentId: "${ANSWERING_AGENT}", query: "Hello" })`
const CHATTERS: ByPrincipal = { ...KEYS, 'upload key': 'permission_denied' }

const CONVERSATION = async ({ all }: MatrixCall) =>
  `conversation(id: "${(await all.shared.conversation()).id}")`
const RENAME_CONVERSATION = async ({ all }: MatrixCall) =>
  `renameConversation(input: { id: "${(await all.shared.conversation()).id}", name: "a name" })`

const KEPT_CHAT = { face: 'graphql', form: (chat: ChatHead) => keptItems(chat, { detail: false }) } as const

const KEY_MAKERS: ByPrincipal = { ...TOKENS, user: 'role_denied', neighbour: 'role_denied' }
const KEY_ROTATORS: ByPrincipal = { ...KEY_MAKERS, neighbour: 'key_not_found' }
const CHANGE_MY_PASSWORD = `changeMyPassword(input: { currentPassword: "a wrong password", newPassword: "${PASSWORD}" })`
const CREATE_USER = () =>
  `createUser(input: { username: "u-${crypto.randomUUID()}", password: "${PASSWORD}", role: ADMIN, maxApiCalls: 1, quotaPeriod: DAY })`
const UPDATE_USER = ({ all }: MatrixCall) =>
  `updateUser(input: { userId: "${all.otherUserId}", role: ADMIN, status: ACTIVE, maxApiCalls: 1, quotaPeriod: DAY })`
const SET_PASSWORD = ({ all }: MatrixCall) =>
  `setPassword(input: { userId: "${all.otherUserId}", password: "${PASSWORD}" })`
const CREATE_API_KEY = ({ caller }: MatrixCall) =>
  `createApiKey(input: { name: "a key", description: "", expiresAt: "${soon()}", permissions: [CHAT], ownerId: "${caller.ownerId}", allowedAgents: null, limits: { chatPerMinute: 1, uploadPerMinute: null } })`
const UPDATE_API_KEY = async (call: MatrixCall) =>
  `updateApiKey(input: { keyId: "${await keyOf(call)}", name: "renamed", description: "", expiresAt: "${soon()}", allowedAgents: null, limits: null })`
const REVOKE_API_KEY = async ({ all, caller }: MatrixCall) =>
  `revokeApiKey(input: { keyId: "${await all.newKey(caller.ownerId)}" })`
const ROTATE_API_KEY = async ({ all, caller }: MatrixCall) =>
  `rotateApiKey(input: { keyId: "${await all.newKey(caller.ownerId)}", overlapSeconds: 60 })`
const END_PREVIOUS_SECRET = async (call: MatrixCall) =>
  `endPreviousApiKeySecret(input: { keyId: "${await keyOf(call)}" })`
const RESET_API_KEY_USAGE = async (call: MatrixCall) =>
  `resetApiKeyUsage(input: { keyId: "${await keyOf(call)}", period: DAY })`

/** A mutation around a field of its payload. */
function inMutation(mutation: Text): (call: MatrixCall) => Promise<string> {
  return async (call) =>
    `mutation { ${typeof mutation === 'string' ? mutation : await mutation(call)} { $FIELD } }`
}

const inCall = ({ all }: MatrixCall) => `{ call(id: "${all.callId}") { $FIELD } }`
const inUpload = async (call: MatrixCall) => `{ upload(id: "${await uploadOf(call)}") { $FIELD } }`
const inKey = async (call: MatrixCall) => `{ apiKey(id: "${await keyOf(call)}") { $FIELD } }`

async function inConversation(call: MatrixCall): Promise<string> {
  return `{ ${await CONVERSATION(call)} { $FIELD } }`
}

/** Every field of Query, Mutation and Subscription, and every field of other types that has arguments or leads to an object. */
export const MATRIX: Readonly<Record<string, MatrixRow>> = {
  'Query.agents': row(
    {
      ...EVERYBODY,
      ...cells(WITH_DEPLOYMENTS, 'admin', 'admin key of an admin'),
      anonymous: 'allowed',
      'upload key': ANSWERING_AGENT,
    },
    SHARED,
    'agents',
    {
      see(agents) {
        if (agents.some(({ deployments }: Any) => deployments !== null)) return WITH_DEPLOYMENTS
        return agents.length === 2 ? 'allowed' : agents.map(({ id }: Any) => id).join()
      },
    },
  ),
  'Query.me': row(MANAGERS, SHARED, 'me'),
  'Query.user': row(ADMINS, SHARED, ({ all }) => `user(id: "${all.otherUserId}")`),
  'Query.users': row(
    ADMINS,
    SHARED,
    `users(state: ACTIVE, role: null, quotaPercentMin: null, ${ORDERED_PAGE})`,
  ),
  'Query.apiKey': row(KEY_READERS, SHARED, async (call) => `apiKey(id: "${await keyOf(call)}")`),
  'Query.apiKeys': row(
    { ...MANAGERS, neighbour: 'user_not_found' },
    SHARED,
    ({ caller }) =>
      `apiKeys(state: ACTIVE, expiresBefore: null, expiresWithin: null, unusedFor: null, ownerId: "${caller.ownerId}", ${ORDERED_PAGE})`,
  ),
  'Query.currentApiKey': row(KEYS, SHARED, 'currentApiKey'),
  'Query.node': row(
    { ...MANAGERS, ...cells('object_not_found', ...PLAIN_KEYS, 'neighbour') },
    SHARED,
    async (call) => `node(id: "${await keyOf(call)}")`,
  ),
  'Query.nodes': row(
    { ...UPLOADS_SEEN, ...cells('nothing', 'chat key', 'chat key of an admin') },
    'nothing',
    async (call) => `nodes(ids: ["${await uploadOf(call)}"])`,
    { see: ([node]) => (node === null ? 'nothing' : 'allowed') },
  ),
  'Query.upload': row(
    UPLOAD_READERS,
    'upload_not_found',
    async (call) => `upload(id: "${await uploadOf(call)}")`,
  ),
  'Query.uploads': row(UPLOADS_SEEN, 'nothing', async (call) => {
    await uploadOf(call)
    return `uploads(${PAGE})`
  }),
  'Query.call': row(shownTo(CALL_STOPPERS), 'call_not_found', ({ all }) => `call(id: "${all.callId}")`, {
    see: ({ platformStatus }) => (platformStatus === null ? 'allowed' : WITH_PLATFORM),
  }),
  'Query.calls': row(
    shownTo(OWN_CALLS),
    'nothing',
    `calls(filter: { agentId: "${FAILING_AGENT}" }, timezone: "UTC", ${PAGE_AHEAD})`,
    {
      see({ nodes }) {
        if (nodes.length === 0) return 'nothing'
        return nodes.some((call: Any) => call.platformStatus !== null) ? WITH_PLATFORM : 'allowed'
      },
    },
  ),
  'Query.conversation': row(CONVERSATION_READERS, 'conversation_not_found', CONVERSATION),
  'Query.conversations': row(
    { ...EVERYBODY, 'upload key': 'permission_denied', neighbour: 'nothing' },
    'nothing',
    `conversations(filter: { agentId: "${FAILING_AGENT}" }, ${PAGE})`,
  ),
  'Query.usage': row(OWN_CALLS, 'nothing', REPORTED, {
    see: ({ totals }) => (totals.calls > 0 ? 'allowed' : 'nothing'),
  }),

  'Query.refusals': row(
    OWN_CALLS,
    FOR_UNBOUND,
    `refusals(filter: { limitName: "${REFUSING_LIMIT}" }, timezone: "UTC", ${PAGE_AHEAD})`,
  ),
  'Query.refusal': row(OWN_CALLS, FOR_UNBOUND, `refusal(requestId: "${REFUSED_REQUEST}")`),
  'Query.refusalCounts': row(OWN_CALLS, FOR_UNBOUND, REFUSALS_COUNTED, {
    see: ([counted]) => (counted === undefined ? 'nothing' : 'allowed'),
  }),
  'Query.auditEvents': row(
    ADMINS,
    SHARED,
    `auditEvents(filter: { operation: "users.create" }, timezone: "UTC", ${PAGE_AHEAD})`,
  ),
  'Query.auditEvent': row(ADMINS, SHARED, 'auditEvent(n: 1)'),
  'Query.gatewayProcesses': row(ADMINS, SHARED, 'gatewayProcesses(state: LIVE)'),

  'Mutation.login': row(
    { ...EVERYBODY, anonymous: 'allowed' },
    SHARED,
    `login(input: { username: "neighbour", password: "${PASSWORD}" })`,
  ),
  'Mutation.logout': row(TOKENS, SHARED, 'logout'),
  'Mutation.changeMyPassword': row(OWN_PASSWORD, SHARED, CHANGE_MY_PASSWORD),
  'Mutation.createUser': row(ADMINS, SHARED, CREATE_USER),
  'Mutation.updateUser': row(ADMINS, SHARED, UPDATE_USER),
  'Mutation.setPassword': row(ADMINS, SHARED, SET_PASSWORD),
  'Mutation.createApiKey': row(KEY_MAKERS, SHARED, CREATE_API_KEY),
  'Mutation.updateApiKey': row(KEY_MANAGERS, SHARED, UPDATE_API_KEY),
  'Mutation.revokeApiKey': row(KEY_READERS, SHARED, REVOKE_API_KEY),
  'Mutation.rotateApiKey': row(KEY_ROTATORS, SHARED, ROTATE_API_KEY),
  'Mutation.endPreviousApiKeySecret': row(KEY_READERS, SHARED, END_PREVIOUS_SECRET),
  'Mutation.resetApiKeyUsage': row(KEY_MANAGERS, SHARED, RESET_API_KEY_USAGE),
  'Mutation.deleteUpload': row(
    UPLOAD_READERS,
    'upload_not_found',
    async ({ all, caller }) => `deleteUpload(input: { uploadId: "${await all.newUpload(caller.ownerId)}" })`,
  ),

  // An API key without the permission, or a token, learns nothing about the agent.
  'Mutation.chat': row(CHATTERS, SHARED, CHAT),
  'Mutation.stopCall': row(
    CALL_STOPPERS,
    'call_not_found',
    async ({ all }) => `stopCall(input: { callId: "${await all.shared.keptCall(KEPT_CHAT)}" })`,
  ),
  'Mutation.renameConversation': row(CONVERSATION_READERS, 'conversation_not_found', RENAME_CONVERSATION),
  'Mutation.deleteConversation': row(
    CONVERSATION_READERS,
    'conversation_not_found',
    async ({ all }) => `deleteConversation(input: { id: "${(await all.newConversation()).id}" })`,
  ),
  'Mutation.rateCall': row(
    { ...CALL_STOPPERS, 'upload key': 'permission_denied' },
    'call_not_found',
    async ({ all }) =>
      `rateCall(input: { callId: "${(await all.shared.conversation()).callId}", rating: UP, text: "a reason" })`,
  ),
  'Subscription.chat': row(CHATTERS, SHARED, CHAT),
  'Subscription.chatResumed': row(
    KEPT_CALLS,
    'call_not_found',
    async ({ all }) => `chatResumed(callId: "${await all.shared.keptCall(KEPT_CHAT)}", after: 0)`,
  ),
  'Subscription.usageUpdated': row(OWN_CALLS, 'nothing', 'usageUpdated', {
    see: ({ totals }) => (totals.failedCalls > 0 ? 'allowed' : 'nothing'),
  }),

  // For each of the following, what its parent does not show reads like the parent.
  'LoginPayload.user': row({ ...EVERYBODY, anonymous: 'allowed' }, SHARED, 'user', {
    within: `mutation { login(input: { username: "neighbour", password: "${PASSWORD}" }) { $FIELD } }`,
  }),
  'ChangeMyPasswordPayload.user': row(OWN_PASSWORD, SHARED, 'user', {
    within: inMutation(CHANGE_MY_PASSWORD),
  }),
  'CreateUserPayload.user': row(ADMINS, SHARED, 'user', { within: inMutation(CREATE_USER) }),
  'UpdateUserPayload.user': row(ADMINS, SHARED, 'user', { within: inMutation(UPDATE_USER) }),
  'SetPasswordPayload.user': row(ADMINS, SHARED, 'user', { within: inMutation(SET_PASSWORD) }),
  'CreateApiKeyPayload.apiKey': row(KEY_MAKERS, SHARED, 'apiKey', { within: inMutation(CREATE_API_KEY) }),
  'UpdateApiKeyPayload.apiKey': row(KEY_MANAGERS, SHARED, 'apiKey', { within: inMutation(UPDATE_API_KEY) }),
  'RevokeApiKeyPayload.apiKey': row(KEY_READERS, SHARED, 'apiKey', { within: inMutation(REVOKE_API_KEY) }),
  'RotateApiKeyPayload.apiKey': row(KEY_ROTATORS, SHARED, 'apiKey', { within: inMutation(ROTATE_API_KEY) }),
  'EndPreviousApiKeySecretPayload.apiKey': row(KEY_READERS, SHARED, 'apiKey', {
    within: inMutation(END_PREVIOUS_SECRET),
  }),
  'ResetApiKeyUsagePayload.apiKey': row(KEY_MANAGERS, SHARED, 'apiKey', {
    within: inMutation(RESET_API_KEY_USAGE),
  }),
  'ChatReply.call': row(CHATTERS, SHARED, 'call', { within: inMutation(CHAT) }),
  'ChatStarted.call': row(CHATTERS, SHARED, 'call', {
    within: `subscription { ${CHAT} { ... on ChatStarted { $FIELD } } }`,
  }),
  'CurrentApiKey.apiKey': row(KEYS, SHARED, 'apiKey', { within: '{ currentApiKey { $FIELD } }' }),
  'User.apiKeys': row(
    { ...MANAGERS, neighbour: 'nothing' },
    SHARED,
    `apiKeys(state: ACTIVE, expiresBefore: null, expiresWithin: null, unusedFor: null, ${ORDERED_PAGE})`,
    { within: '{ me { $FIELD } }' },
  ),
  'User.uploads': row(
    { ...ADMINS, admin: 'nothing', 'admin key of an admin': 'nothing' },
    'nothing',
    `uploads(${PAGE})`,
    {
      // An administrator sees the other user, but not its uploads.
      within: async (call) => {
        await call.all.shared.upload(call.all.callers.premium.ownerId)
        return `{ user(id: "${call.all.callers.premium.ownerId}") { $FIELD } }`
      },
    },
  ),
  'User.calls': row({ ...MANAGERS, neighbour: 'nothing' }, 'nothing', `calls(${PAGE_AHEAD})`, {
    within: '{ me { $FIELD } }',
    // Bob has chatted as well.
    see: ({ nodes }) => (nodes.some(({ endUser }: Any) => endUser !== BOB) ? 'allowed' : 'nothing'),
  }),
  'ApiKey.calls': row(CALL_STOPPERS, 'call_not_found', `calls(${PAGE_AHEAD})`, {
    within: ({ all }) => `{ call(id: "${all.callId}") { key { $FIELD } } }`,
  }),
  'ApiKey.owner': row(
    // The keys that premium created belong to it; the neighbour and the chat keys do not see the key at all.
    KEY_READERS,
    SHARED,
    'owner',
    { within: inKey },
  ),
  'ApiKey.createdBy': row(
    // An administrator created the keys of the plain user, who does not see it.
    { ...KEY_READERS, user: 'nothing', 'admin key of a user': 'nothing' },
    SHARED,
    'createdBy',
    { within: inKey },
  ),
  'ApiKey.uploads': row({ ...UPLOADERS, 'admin key of an admin': 'nothing' }, 'nothing', `uploads(${PAGE})`, {
    within: async (call) => {
      await uploadOf(call)
      return '{ currentApiKey { apiKey { $FIELD } } }'
    },
  }),
  'Upload.owner': row({ ...UPLOAD_READERS, 'upload key': 'nothing' }, 'upload_not_found', 'owner', {
    within: inUpload,
  }),
  'Upload.key': row(UPLOAD_READERS, 'upload_not_found', 'key', { within: inUpload }),
  'Upload.call': row({ ...UPLOAD_READERS, admin: 'upload_not_found' }, 'upload_not_found', 'call', {
    within: inUpload,
  }),
  'Call.key': row(CALL_STOPPERS, 'call_not_found', 'key', { within: inCall }),
  'Call.owner': row({ ...CALL_STOPPERS, 'chat key': 'nothing' }, 'call_not_found', 'owner', {
    within: inCall,
  }),
  'Call.agent': row(CALL_STOPPERS, 'call_not_found', 'agent', { within: inCall }),
  // A call that leads to itself, since who sees the other call is decided by the same rule.
  ...Object.fromEntries(
    (['answers', 'answeredBy'] as const).map((name) => [
      `Call.${name}`,
      row(CALL_STOPPERS, 'call_not_found', name, {
        within: async ({ all: { gateway, callId } }) => {
          await gateway.prisma.call.update({ where: { id: callId }, data: { [name]: callId } })
          return `{ call(id: "${callId}") { $FIELD } }`
        },
      }),
    ]),
  ),
  'Conversation.agent': row(CONVERSATION_READERS, 'conversation_not_found', 'agent', {
    within: inConversation,
  }),
  'Conversation.owner': row(
    { ...CONVERSATION_READERS, 'chat key': 'nothing' },
    'conversation_not_found',
    'owner',
    { within: inConversation },
  ),
  'Conversation.messages': row(
    CONVERSATION_READERS,
    'conversation_not_found',
    'messages(last: 1, before: null)',
    { within: inConversation },
  ),
  'RenameConversationPayload.conversation': row(
    CONVERSATION_READERS,
    'conversation_not_found',
    'conversation',
    { within: inMutation(RENAME_CONVERSATION) },
  ),
  'Call.conversation': row(CALL_STOPPERS, 'call_not_found', 'conversation', {
    within: async ({ all }) => `{ call(id: "${(await all.shared.conversation()).callId}") { $FIELD } }`,
  }),
  'Call.pause': row(pauseCells(CALL_STOPPERS), 'call_not_found', 'pause', {
    within: async ({ all }) => `{ call(id: "${(await all.shared.pausedConversation()).callId}") { $FIELD } }`,
  }),
  'Conversation.pause': row(pauseCells(CONVERSATION_READERS), 'conversation_not_found', 'pause', {
    within: async ({ all }) =>
      `{ conversation(id: "${(await all.shared.pausedConversation()).id}") { $FIELD } }`,
  }),
  'ApiKey.usageReport': row(
    KEY_READERS,
    SHARED,
    'usageReport(from: null, to: null, agentId: null, appId: null, model: null, endUser: null, outcome: null, granularity: DAY, groupBy: [], timezone: "UTC")',
    { within: inKey },
  ),
  'UsageReport.groups': row(OWN_CALLS, 'nothing', 'groups(first: 1, orderBy: CALLS)', {
    within: `{ ${REPORTED} { $FIELD } }`,
    see: (groups) => (groups.length > 0 ? 'allowed' : 'nothing'),
  }),
  'UsageReport.missingGroups': row(OWN_CALLS, 'nothing', 'missingGroups(first: 1, orderBy: CALLS)', {
    within: `{ ${COMPARED} { $FIELD } }`,
    see: (groups) => (groups.length > 0 ? 'allowed' : 'nothing'),
  }),
  'UsageGroup.key': row(OWN_CALLS, 'nothing', 'key', { within: `{ ${REPORTED} { groups { $FIELD } } }` }),
  'UsageGroup.conversation': row({ ...OWN_CALLS, 'upload key': 'nothing' }, 'nothing', 'conversation', {
    within: `{ usage(filter: { agentId: "${FAILING_AGENT}" }, groupBy: [CONVERSATION]) { groups { $FIELD } } }`,
  }),
  'UsageGroup.owner': row({ ...OWN_CALLS, ...NONE_FOR_KEYS }, 'nothing', 'owner', {
    within: `{ ${REPORTED} { groups { $FIELD } } }`,
  }),
  'Refusal.key': row(OWN_CALLS, FOR_UNBOUND, 'key', { within: REFUSAL }),
  'Refusal.owner': row({ ...OWN_CALLS, ...NONE_FOR_KEYS }, FOR_UNBOUND, 'owner', { within: REFUSAL }),
  'Refusal.agent': row(OWN_CALLS, FOR_UNBOUND, 'agent', { within: REFUSAL }),
  'RefusalCount.agent': row(OWN_CALLS, FOR_UNBOUND, 'agent', {
    within: `{ ${REFUSALS_COUNTED} { $FIELD } }`,
  }),
  'RefusalCount.key': row(OWN_CALLS, FOR_UNBOUND, 'key', { within: `{ ${REFUSALS_COUNTED} { $FIELD } }` }),
  'RefusalCount.owner': row({ ...OWN_CALLS, ...NONE_FOR_KEYS }, FOR_UNBOUND, 'owner', {
    within: `{ ${REFUSALS_COUNTED} { $FIELD } }`,
  }),
  'AuditEvent.user': row(ADMINS, SHARED, 'user', { within: AUDITED }),
  'AuditEvent.key': row(ADMINS, SHARED, 'key', { within: AUDITED }),
  'UsageGroup.agent': row(OWN_CALLS, 'nothing', 'agent', { within: `{ ${REPORTED} { groups { $FIELD } } }` }),
}

/** The day so many days from now. */
function day(from: number): string {
  return new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10)
}

function soon(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}
