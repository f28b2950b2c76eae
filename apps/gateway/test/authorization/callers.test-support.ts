import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Logger } from 'pino'
import { expect, vi } from 'vitest'
import { type Config, parseConfig } from '#config/load.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import { type Runtime, systemRuntime } from '#core/base/runtime.ts'
import { PartsCollector } from '#core/calls/reading/collect-reply.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import { requestOf } from '#core/calls/request/chat-request.test-support.ts'
import type { ChatRequest } from '#core/calls/request/chat-request.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import type { KeptForm } from '#core/reply-log/kept-form.ts'
import { countRefusals, insertRefusal } from '#core/reports/refusals/refusals.test-support.ts'
import type { Permission, Principal, Role } from '#core/requests/principal.ts'
import type { UploadPart } from '#core/uploads/upload-request.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { createLogger } from '#ops/logger.ts'
import { createGateway, type Gateway } from '../../src/composition/gateway.ts'

export const CALLERS = [
  'anonymous',
  'user',
  'premium',
  'admin',
  'chat key',
  'upload key',
  'admin key of an admin',
  'chat key of an admin',
  'admin key of a user',
  'neighbour',
] as const

/**
 * Callers whose requests name an end user, each with a caller of the same credential. What belongs to an end user belongs to Ann. They
 * are bound only in a gateway that trusts the header, see {@link CallersOptions.bindsEndUsers}.
 */
export const BOUND_CALLERS = {
  'chat key for Ann': 'chat key',
  'chat key for Bob': 'chat key',
  'chat key for nobody': 'chat key',
  'upload key for Ann': 'upload key',
  'upload key for Bob': 'upload key',
  'premium for Bob': 'premium',
  'admin key of an admin for Bob': 'admin key of an admin',
} as const satisfies Record<string, (typeof CALLERS)[number]>
export type BoundCaller = keyof typeof BOUND_CALLERS

export type CallerName = (typeof CALLERS)[number] | BoundCaller

export interface Caller {
  /** Empty for an anonymous caller. */
  readonly credential: string
  /** The end user that its requests name. */
  readonly endUser: string | undefined
  readonly principal: Principal | undefined
  /** The owner of the objects that this caller requests: for the neighbour and the administrators, another user. */
  readonly ownerId: string
}

/** A gateway with one caller of every kind, and a call of each chat key in its ledger; each has been refused once as well. */
export interface Callers {
  readonly config: Config
  readonly gateway: Gateway
  readonly database: Database
  readonly callers: Readonly<Record<CallerName, Caller>>
  /** Another key of premium that may chat. */
  readonly secondKey: Caller
  /** A user who is not one of the callers. */
  readonly otherUserId: string
  /** Names of keys by id, as `premium's chat key`. */
  readonly keyNames: ReadonlyMap<string, string>
  /** The id of a call that premium's chat key has made. */
  readonly callId: string
  /** An id that is later than those of the calls in the ledger. */
  readonly idAfterCalls: string
  /** What requests may read and change, but not remove. It is made at the first request for it. */
  readonly shared: SharedObjects
  /** Makes a kept call with premium's chat key, waits until it is settled, and returns its id. */
  newKeptCall(asked?: KeptAsked): Promise<string>
  /** Makes a call with premium's chat key in a new conversation, and returns the ids of both once they are listed. */
  newConversation(): Promise<{ readonly id: string; readonly callId: string }>
  /** Creates a key of this owner, `a key` unless it is named, and returns its id. */
  newKey(ownerId: string, name?: string): Promise<string>
  /** Uploads a file with a key of this owner and returns the id of the upload; for `premium`, with its upload key. */
  newUpload(ownerId: string): Promise<string>
  /** A new token if the caller uses a token, or else the caller's own credential. */
  freshCredential(caller: CallerName): Promise<string>
  close(): Promise<void>
}

const SETTLED_WITHIN = { timeout: 20_000, interval: 10 }

/** Objects as the methods `new…` of {@link Callers} make them, but one for all requests. */
export interface SharedObjects {
  keptCall(asked?: KeptAsked): Promise<string>
  conversation(): Promise<{ readonly id: string; readonly callId: string }>
  /** Another conversation, whose call has ended with a question that is open. */
  pausedConversation(): Promise<{ readonly id: string; readonly callId: string }>
  key(ownerId: string): Promise<string>
  upload(ownerId: string): Promise<string>
}

export const PASSWORD = 'correct horse battery staple'
/** The agent whose calls are in the ledger. They failed, so that the ledger has the platform's status. */
export const FAILING_AGENT = 'failing'
export const ANSWERING_AGENT = 'answering'
/** The request that was refused with each chat key, and the limit that refused it. */
export const REFUSED_REQUEST = 'refused in a test'
export const REFUSING_LIMIT = 'a limit of tests'
/** The end user of all that belongs to one, by a name that nothing else has, and another one. */
export const ANN = 'ann.quaternion@example.com'
export const BOB = 'bob.hypotenuse@example.com'
export const END_USER_HEADER = 'x-end-user'
/** What premium's chat key is on record for. */
export const AUDITED_OPERATION = 'an operation of tests'

const NO_ID = '00000000-0000-0000-0000-000000000000'
/** The principal with which the command line calls the services. */
const OPERATOR: Principal = {
  userId: NO_ID,
  role: 'admin',
  via: { kind: 'token', tokenId: NO_ID, expiresAt: new Date(0) },
}

export interface CallersOptions {
  readonly log?: Logger
  /** The documents of an address that may be refused in a minute. */
  readonly refusedDocuments?: number
  /** The chats of a key in a minute. */
  readonly chatsPerMinute?: number
  /** The reads of a credential in an hour, and as many reports and pages of calls; by default what the gateway allows. */
  readonly readPoints?: number
  /** The database server; without it the database is embedded. */
  readonly serverUrl?: string | undefined
  /** The clocks and randomness of the gateway that are not the system's. */
  readonly runtime?: Partial<Runtime>
  /** Whether the gateway trusts a header that names end users. The keys that make the objects of the callers then name Ann. */
  readonly bindsEndUsers?: boolean
  /** Whether requests that are bound must name an end user. */
  readonly requiresEndUsers?: boolean
}

export async function openCallers({
  log = createLogger('silent'),
  refusedDocuments = 10_000,
  chatsPerMinute = 60,
  readPoints,
  serverUrl,
  runtime = {},
  bindsEndUsers = false,
  requiresEndUsers: endUserRequired = false,
}: CallersOptions = {}): Promise<Callers> {
  const database = await openScratchDatabase(serverUrl)
  const platform = await startPlatform()
  const { port } = platform.address() as AddressInfo
  const agent = (path: string) => ({
    platform: 'openai',
    baseUrl: `http://127.0.0.1:${port}/${path}`,
    model: 'm',
  })
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-'))
  const config = parseConfig(
    {
      agents: { failing: agent('failing'), answering: agent('answering') },
      limits: {
        chat: { points: chatsPerMinute },
        upload: { points: 10_000 },
        writes: { points: 10_000 },
        adminWrites: { points: 10_000 },
        successfulLogins: { points: 10_000 },
        refusedDocuments: { points: refusedDocuments },
        ...(readPoints !== undefined && readLimits(readPoints)),
      },
      ...(bindsEndUsers && { conversations: { endUserHeader: END_USER_HEADER, endUserRequired } }),
    },
    { DATA_DIR: dataDir },
  )
  const gateway = await createGateway({
    config,
    database,
    runtime: { ...systemRuntime, ...runtime },
    log,
  })
  await gateway.prepare()
  await gateway.open()
  const { users, keys, login, authentication } = gateway.services

  const userId = async (username: string, role: Role) =>
    (await users.create(OPERATOR, { username, password: PASSWORD, role })).id
  const ids = {
    user: await userId('user', 'user'),
    premium: await userId('premium', 'premium'),
    admin: await userId('admin', 'admin'),
    neighbour: await userId('neighbour', 'premium'),
    other: await userId('other', 'premium'),
  }
  const creatorOf = (ownerId: string): Principal =>
    ownerId === ids.user
      ? { ...OPERATOR, userId: ids.admin }
      : { ...OPERATOR, userId: ownerId, role: ownerId === ids.admin ? 'admin' : 'premium' }
  const createKey = (ownerId: string, permissions: Permission[], allowedAgents?: string[], name = 'a key') =>
    keys.create(creatorOf(ownerId), {
      name,
      description: '',
      permissions,
      ownerId,
      allowedAgents,
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    })

  const keyNames = new Map<string, string>()
  async function byKey(name: string, ownerId: string, target: string, ...key: [Permission[], string[]?]) {
    const { key: row, fullKey } = await createKey(ownerId, ...key)
    keyNames.set(row.id, name)
    return callerOf(fullKey, target)
  }
  const tokenOf = async (username: string) =>
    (await login.login({ username, password: PASSWORD }, { address: '127.0.0.1', requestId: 'test' }))
      .accessToken
  const byToken = async (username: string, target: string) => callerOf(await tokenOf(username), target)
  const principalOf = (credential: string, endUser: string | undefined) =>
    authentication.authenticate(credential, { address: '127.0.0.1', requestId: 'test' }, () => endUser)
  async function callerOf(credential: string, ownerId: string): Promise<Caller> {
    const { endUser, ...principal } = await principalOf(credential, undefined)
    // As in a gateway that trusts no header, none of them is bound. The requests of those who would be name Ann.
    return { credential, principal, ownerId, endUser: endUser === undefined ? undefined : ANN }
  }

  const unbound = {
    anonymous: { credential: '', principal: undefined, ownerId: ids.premium, endUser: undefined },
    user: await byToken('user', ids.user),
    premium: await byToken('premium', ids.premium),
    admin: await byToken('admin', ids.premium),
    neighbour: await byToken('neighbour', ids.premium),
    'chat key': await byKey("premium's chat key", ids.premium, ids.premium, ['chat']),
    'upload key': await byKey(
      "premium's upload key",
      ids.premium,
      ids.premium,
      ['upload'],
      [ANSWERING_AGENT],
    ),
    'admin key of an admin': await byKey("admin's admin key", ids.admin, ids.premium, ['admin']),
    'chat key of an admin': await byKey("admin's chat key", ids.admin, ids.premium, ['chat']),
    // Only an administrator may give it this permission.
    'admin key of a user': await byKey("user's admin key", ids.user, ids.user, ['admin']),
  }
  const boundTo = async (name: BoundCaller, endUser: string | undefined): Promise<Caller> => {
    const caller = unbound[BOUND_CALLERS[name]]
    return { ...caller, endUser, principal: await principalOf(caller.credential, endUser) }
  }
  const callers: Callers['callers'] = {
    ...unbound,
    'chat key for Ann': await boundTo('chat key for Ann', ANN),
    'chat key for Bob': await boundTo('chat key for Bob', BOB),
    'chat key for nobody': await boundTo('chat key for nobody', undefined),
    'upload key for Ann': await boundTo('upload key for Ann', ANN),
    'upload key for Bob': await boundTo('upload key for Bob', BOB),
    'premium for Bob': await boundTo('premium for Bob', BOB),
    'admin key of an admin for Bob': await boundTo('admin key of an admin for Bob', BOB),
  }
  const second = await byKey("premium's second key", ids.premium, ids.premium, ['chat'])
  const {
    'chat key': chatKey,
    'chat key of an admin': adminsChatKey,
    'admin key of a user': usersKey,
  } = unbound
  const callId = await failingCall(gateway, chatKey)
  for (const caller of [second, adminsChatKey, usersKey]) await failingCall(gateway, caller)
  for (const caller of [chatKey, second, adminsChatKey, usersKey]) {
    const { userId: ownerId, keyId } = identityOf(caller)
    const refused = { ownerId, keyId, limit: REFUSING_LIMIT, agent: FAILING_AGENT }
    await insertRefusal(database.sql, { ...refused, requestId: REFUSED_REQUEST })
    await countRefusals(database.sql, 1, refused)
  }
  const audited = { operation: AUDITED_OPERATION, actor: 'key', ...identityOf(chatKey) }
  await database.sql.query('SELECT audit_append($1::jsonb)', [JSON.stringify(audited)])
  await vi.waitFor(async () => {
    const open = await database.sql.query('SELECT FROM calls WHERE outcome IS NULL')
    if (open.length > 0) throw new Error('the calls are not settled yet')
  }, SETTLED_WITHIN)

  async function newKeptCall(asked?: KeptAsked) {
    const callId = await keptCall(gateway, chatKey, asked)
    // Until then it could be stopped, and its conversation is busy.
    await vi.waitFor(async () => {
      const [call] = await database.sql.query('SELECT outcome FROM calls WHERE id = $1::uuid', [callId])
      expect(call).toEqual({ outcome: 'done' })
    }, SETTLED_WITHIN)
    return callId
  }
  async function newConversation() {
    const callId = await newKeptCall()
    return vi.waitFor(async () => {
      const [row] = await database.sql.query<{ id: string }>(
        'SELECT l.id::text FROM listed_conversations l JOIN calls c USING (owner_id, conversation) WHERE c.id = $1::uuid',
        [callId],
      )
      if (row === undefined) throw new Error('the conversation is not listed yet')
      return { id: row.id, callId }
    }, SETTLED_WITHIN)
  }
  async function pausedConversation() {
    const conversation = await newConversation()
    await database.sql.query(
      `WITH paused AS (UPDATE calls SET paused = true WHERE id = $1::uuid RETURNING *)
      INSERT INTO pauses (id, owner_id, end_user, agent, app, conversation, deployment, state, sealed, content, created_at)
      SELECT id, owner_id, end_user, agent, app, conversation, 'main', '', false, $2, now() FROM paused`,
      [
        conversation.callId,
        JSON.stringify({ pauses: [{ question: 'Which one?', options: [], fields: [] }] }),
      ],
    )
    return conversation
  }
  const newKey = async (ownerId: string, name?: string) =>
    (await createKey(ownerId, ['chat'], undefined, name)).key.id
  async function newUpload(ownerId: string) {
    const name = ownerId === ids.premium ? 'upload key for Ann' : 'admin key of a user'
    const { principal, credential } = callers[name]
    if (principal === undefined) throw new Error('the key has no principal')
    return (await upload(gateway, principal, credential)).id
  }

  return {
    config,
    gateway,
    database,
    callers,
    secondKey: second,
    keyNames,
    callId,
    idAfterCalls: gateway.runtime.newId(),
    otherUserId: ids.other,
    shared: {
      keptCall: onceFor(newKeptCall),
      conversation: onceFor(newConversation),
      pausedConversation: onceFor(pausedConversation),
      key: onceFor(newKey),
      upload: onceFor(newUpload),
    },
    newKeptCall,
    newConversation,
    newKey,
    newUpload,
    async freshCredential(name) {
      const { credential, principal } = callers[name]
      return principal?.via.kind === 'token' ? tokenOf(name.replace(' for Bob', '')) : credential
    },
    async close() {
      await gateway.close()
      await database.close()
      platform.close()
      await rm(dataDir, { recursive: true })
    },
  }
}

/** Makes one object for each first argument. */
function onceFor<Given extends unknown[], Made>(make: (...given: Given) => Promise<Made>) {
  const made = new Map<unknown, Promise<Made>>()
  return (...given: Given): Promise<Made> => {
    const known = made.get(given[0]) ?? make(...given)
    made.set(given[0], known)
    return known
  }
}

/** The user and the key of a caller. */
function identityOf({ principal }: Pick<Caller, 'principal'>): { userId: string; keyId?: string } {
  const via = principal?.via
  return { userId: principal?.userId ?? '', ...(via?.kind === 'key' && { keyId: via.keyId }) }
}

export function chatCall({ credential, endUser }: Asking, agent: string): ChatRequest {
  const readEndUser = () => endUser
  return requestOf({ requestId: 'r', credential, agent, address: '127.0.0.1', query: 'Hello', readEndUser })
}

/** What a request brings of its caller. */
export type Asking = Pick<Caller, 'credential' | 'endUser'>

/** The headers by which a request names its caller. */
export function headersOf({ credential, endUser }: Asking): Record<string, string> {
  return {
    ...(credential !== '' && { authorization: `Bearer ${credential}` }),
    ...(endUser !== undefined && { [END_USER_HEADER]: endUser }),
  }
}

/** How a kept call is made; by default over REST, and kept as plain text. */
interface KeptAsked {
  readonly face: ChatRequest['face']
  readonly form: (chat: ChatHead) => KeptForm
}

/** Makes a call whose reply is kept, reads it, and returns its id. */
export async function keptCall(
  { services }: Pick<Gateway, 'services'>,
  caller: Asking,
  asked: KeptAsked = { face: 'rest', form: plainForm },
): Promise<string> {
  const keyHash = createHash('sha256').update(randomUUID()).digest('hex')
  const call = {
    ...chatCall(caller, ANSWERING_AGENT),
    face: asked.face,
    stream: true,
    kept: { keyHash, bodyHash: '', form: asked.form },
  }
  const { signal } = new AbortController()
  const kept = await services.chat.startKept(call, signal, () => undefined)
  await kept.whole(signal)
  return kept.call.callId
}

function plainForm({ model }: ChatHead): KeptForm {
  const collector = new PartsCollector(model, {}, ({ content }) => content)
  return {
    hasIds: true,
    encode: (event) => (event.type === 'text' ? `data: ${event.text}\n\n` : ''),
    fail: ({ reason }) => `data: ${reason}\n\n`,
    collector,
    serialize: () => JSON.stringify(collector.reply),
  }
}

/** Uploads a small text. */
export function upload({ services }: Gateway, caller: Principal, credential: string): Promise<Upload> {
  async function* parts(): AsyncGenerator<UploadPart, void> {
    yield { kind: 'field', name: 'created_by', value: 'a test' }
    const body = Readable.from([Buffer.from('a text')])
    yield { kind: 'file', name: 'file', filename: 'a.txt', body, problemOf }
  }
  const request = {
    requestId: 'r',
    face: 'rest',
    credential,
    address: '127.0.0.1',
    agent: undefined,
  } as const
  return services.uploads.receive(caller, request, parts(), new AbortController().signal)
}

async function failingCall({ services }: Gateway, caller: Asking): Promise<string> {
  const signal = new AbortController().signal
  const chat = await services.chat.start(chatCall(caller, FAILING_AGENT), signal)
  await chat.events.read(() => undefined).catch(() => undefined)
  return chat.callId
}

const ANSWER = {
  id: '1',
  model: 'm',
  choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }],
}

function readLimits(points: number) {
  const limit = { points, windowSeconds: 3_600 }
  return { reads: limit, reports: limit, calls: limit }
}

/** An OpenAI-compatible server that refuses below one path and answers below the other. */
async function startPlatform(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    if (request.url?.includes('failing')) response.writeHead(500).end('{"error":{"message":"down"}}')
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify(ANSWER)}\n\ndata: [DONE]\n\n`)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
