import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { InjectOptions } from 'fastify'
import {
  ANSWERING_AGENT,
  type Caller,
  type CallerName,
  type Callers,
  FAILING_AGENT,
  headersOf,
  PASSWORD,
} from './callers.test-support.ts'
import { newKey } from './table.test-support.ts'

interface RequestContext {
  readonly all: Callers
  readonly caller: Caller
}

/** An operation of the contract: the method of the services that executes it, and an example of a request. */
interface Operation {
  readonly method: string
  id?(context: RequestContext): string | Promise<string>
  readonly query?: string
  body?(context: RequestContext): object
  /** A form in place of the body, if the operation takes one. */
  form?(): FormData
  /** The operation revokes the credential of its request, so each request needs a new one. */
  readonly takesFreshCredential?: boolean
}

const theirKey = ({ all, caller }: RequestContext) => all.shared.key(caller.ownerId)
const theirUpload = ({ all, caller }: RequestContext) => all.shared.upload(caller.ownerId)
const theirKeptCall = ({ all }: RequestContext) => all.shared.keptCall()
const theirCall = async ({ all }: RequestContext) => (await all.shared.conversation()).callId
const theirConversation = async ({ all }: RequestContext) => (await all.shared.conversation()).id
const revoke: Operation = { method: 'keys.revoke', id: ({ all, caller }) => all.newKey(caller.ownerId) }
/** A key in the overlap of a rotation. */
const rotatedKey = async ({ all, caller }: RequestContext) => {
  const id = await all.newKey(caller.ownerId)
  const data = { previousHash: randomBytes(32), previousEndsAt: new Date(Date.now() + 60_000) }
  await all.database.prisma.apiKey.update({ where: { id }, data })
  return id
}
const otherUser = ({ all }: RequestContext) => all.otherUserId
const logout = { method: 'login.logout', takesFreshCredential: true }

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  chat: {
    method: 'chat.start',
    body: () => ({
      ...{
        app_id: '',
        chat_id: '',
        stream: false,
        detail: false,
        query: 'Hello',
        conversation_id: '',
        files: [],
      },
    }),
  },
  createCompletion: {
    method: 'chat.start',
    body: () => ({ model: ANSWERING_AGENT, messages: [{ role: 'user', content: 'Hello' }] }),
  },
  createResponse: { method: 'chat.start', body: () => ({ model: ANSWERING_AGENT, input: 'Hello' }) },
  listModels: { method: 'agents.models' },
  readModel: { method: 'agents.models', id: () => ANSWERING_AGENT },
  listAgents: { method: 'agents.list' },
  listAgentDeployments: { method: 'agents.deploymentsOf', id: () => FAILING_AGENT },
  logout,
  authLogout: logout,
  createApiKey: {
    method: 'keys.create',
    body: (context) => {
      const { expiresAt: expires_at, ownerId: owner_id, ...key } = newKey(context)
      return { ...key, expires_at, owner_id }
    },
  },
  listApiKeys: { method: 'keys.list' },
  getApiKey: { method: 'keys.find', id: theirKey },
  updateApiKey: { method: 'keys.update', id: theirKey, body: () => ({ name: 'renamed' }) },
  deleteApiKey: revoke,
  revokeApiKey: revoke,
  rotateApiKey: { method: 'keys.rotate', id: theirKey, body: () => ({ overlap_seconds: 0 }) },
  endPreviousSecret: { method: 'keys.endPreviousSecret', id: rotatedKey },
  resetApiKeyUsage: { method: 'keys.resetUsage', id: theirKey, body: () => ({ period: 'day' }) },
  getCurrentApiKey: { method: 'keys.current' },
  createUser: {
    method: 'users.create',
    body: () => ({ username: `u-${crypto.randomUUID()}`, password: PASSWORD, role: 'admin' }),
  },
  listUsers: { method: 'users.list' },
  getMe: { method: 'users.me' },
  changeOwnPassword: {
    method: 'users.changeOwnPassword',
    body: () => ({ current_password: 'a wrong password', new_password: PASSWORD }),
  },
  getUser: { method: 'users.find', id: otherUser },
  updateUser: { method: 'users.update', id: otherUser, body: () => ({ role: 'admin' }) },
  setPassword: { method: 'users.setPassword', id: otherUser, body: () => ({ password: PASSWORD }) },
  upload: {
    method: 'uploads.receive',
    form() {
      const form = new FormData()
      form.set('file', new File(['a text'], 'a.txt'))
      form.set('created_by', 'a test')
      return form
    },
  },
  listUploads: { method: 'uploads.list' },
  getUpload: { method: 'uploads.find', id: theirUpload },
  deleteUpload: { method: 'uploads.remove', id: ({ all, caller }) => all.newUpload(caller.ownerId) },
  readUsage: { method: 'usage.report', query: `?agent=${FAILING_AGENT}` },
  listCalls: { method: 'calls.list', query: `?agent=${FAILING_AGENT}` },
  getCall: { method: 'calls.find', id: theirCall },
  listConversations: { method: 'conversations.list' },
  getConversation: { method: 'conversations.find', id: theirConversation },
  listMessages: { method: 'conversations.messages', id: theirConversation },
  renameConversation: {
    method: 'conversations.rename',
    id: theirConversation,
    body: () => ({ name: 'a name' }),
  },
  deleteConversation: {
    method: 'conversations.remove',
    id: async ({ all }) => (await all.newConversation()).id,
  },
  rateCall: {
    method: 'conversations.rate',
    id: theirCall,
    body: () => ({ rating: 'up' }),
  },
  eraseEndUser: {
    method: 'endUsers.erase',
    body: ({ all }) => ({ end_user: 'nobody', owner_id: all.callers.premium.ownerId }),
  },
  listRefusals: { method: 'refusals.list', query: '?limit_name=a' },
  countRefusals: { method: 'refusals.counts', query: '?limit_name=a' },
  listAuditEvents: { method: 'audit.list' },
  listProcesses: { method: 'processes.list' },
  reloadConfiguration: { method: 'configuration.reload' },
  resumeCall: { method: 'replies.resume', id: theirKeptCall },
  readReply: { method: 'replies.reply', id: theirKeptCall },
  stopCall: { method: 'callStops.stop', id: theirKeptCall },
  deleteReply: { method: 'replies.remove', id: ({ all }) => all.newKeptCall() },
}

/** The operations that do not depend on the caller. */
export const OPEN_OPERATIONS = ['login', 'authLogin', 'getJwks', 'live', 'ready', 'metrics', 'getFile']

/** The request of a caller for an operation. */
export async function requestOf(operationId: string, all: Callers, name: CallerName): Promise<InjectOptions> {
  const { id, query, body, form, takesFreshCredential } = OPERATIONS[operationId] ?? {}
  const { method, path } = CONTRACT.get(operationId) ?? {}
  const context = { all, caller: all.callers[name] }
  const { endUser } = context.caller
  const credential = takesFreshCredential ? await all.freshCredential(name) : context.caller.credential
  const encoded = form === undefined ? undefined : new Response(form())
  const payload = encoded === undefined ? body?.(context) : Buffer.from(await encoded.arrayBuffer())
  const contentType = encoded?.headers.get('content-type')
  return {
    method: method as 'GET',
    url: `${path?.replace(/\{\w+\}/, (await id?.(context)) ?? '')}${query ?? ''}`,
    headers: {
      agent: ANSWERING_AGENT,
      ...headersOf({ credential, endUser }),
      ...(contentType && { 'content-type': contentType }),
    },
    ...(payload !== undefined && { payload }),
  }
}

/** The operations of the contract by their ids. */
export const CONTRACT = readOperations()

function readOperations(): ReadonlyMap<string, { method: string; path: string }> {
  const contract: { paths: Record<string, Record<string, { operationId: string }>> } = JSON.parse(
    readFileSync(new URL('../../../../openapi.json', import.meta.url), 'utf8'),
  )
  return new Map(
    Object.entries(contract.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [
        operationId,
        { method: method.toUpperCase(), path },
      ]),
    ),
  )
}
