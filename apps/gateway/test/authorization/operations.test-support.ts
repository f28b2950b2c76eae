import {
  ANSWERING_AGENT,
  type Caller,
  type Callers,
  FAILING_AGENT,
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

const theirKey = ({ all, caller }: RequestContext) => all.newKey(caller.ownerId)
const theirUpload = ({ all, caller }: RequestContext) => all.newUpload(caller.ownerId)
const theirKeptCall = ({ all }: RequestContext) => all.newKeptCall()
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
  deleteApiKey: { method: 'keys.revoke', id: theirKey },
  revokeApiKey: { method: 'keys.revoke', id: theirKey },
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
  deleteUpload: { method: 'uploads.remove', id: theirUpload },
  readUsage: { method: 'usage.report', query: `?agent=${FAILING_AGENT}` },
  listCalls: { method: 'usage.calls', query: `?agent=${FAILING_AGENT}` },
  listRefusals: { method: 'refusals.list', query: '?limit_name=a' },
  countRefusals: { method: 'refusals.counts', query: '?limit_name=a' },
  listAuditEvents: { method: 'audit.list' },
  listProcesses: { method: 'processes.list' },
  resumeCall: { method: 'replies.resume', id: theirKeptCall },
  readReply: { method: 'replies.reply', id: theirKeptCall },
  stopCall: { method: 'replies.stop', id: theirKeptCall },
  deleteReply: { method: 'replies.remove', id: theirKeptCall },
}

/** The operations that do not depend on the caller. */
export const OPEN_OPERATIONS = ['login', 'authLogin', 'getJwks', 'live', 'ready', 'metrics', 'getFile']
