import { expect } from 'vitest'
import { type Answer, type Api, apiOf } from './api.ts'
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts'
import { until } from './until.ts'
import { type FormPart, formOf, sendForm } from './upload-client.ts'

/** A gateway that receives uploads, and its administrator. */
export interface GatewayWithUploads {
  readonly gateway: TestGateway
  readonly api: Api
  /** An access token of the administrator. */
  readonly token: string
  /** A key of the administrator with the permission `upload`. */
  readonly key: UploadKey
  /** Creates a premium user with such a key. */
  createUploader(name: string): Promise<UploadKey & { readonly token: string }>
  send(parts: readonly FormPart[], more?: Parameters<typeof sendForm>[3]): Promise<Answer>
  /** The settled call of the ledger with this id. */
  settledCall(callId: string): Promise<LedgerRow>
  /** All calls of a key, newest first, once every one of them is settled. */
  settledCalls(key: Pick<UploadKey, 'id'>): Promise<LedgerRow[]>
  /** Resolves when the ledger has a call of this key. */
  admitted(key: Pick<UploadKey, 'id'>): Promise<void>
  /** Resolves when so many uploads are admitted and not ended. */
  inProgress(count: number): Promise<void>
  /**
   * Expects that the storage has the files of these URLs and nothing else. It waits, because what an upload has written may
   * be removed a moment after its answer.
   */
  expectStored(...urls: readonly string[]): Promise<void>
}

export interface UploadKey {
  readonly id: string
  readonly full_key: string
  readonly owner_id: string
}

export interface LedgerRow {
  readonly id: string
  readonly kind: string
  readonly outcome: string | null
  readonly reason: string | null
  readonly agent: string
}

interface Options extends Pick<GatewayOptions, 'env' | 'isOnDisk' | 'main'> {
  /** The section `uploads` of the configuration. */
  readonly uploads?: Readonly<Record<string, unknown>>
  /** Further sections. */
  readonly settings?: Readonly<Record<string, unknown>>
}

const PLENTY = { points: 1_000_000 }

export async function startGatewayWithUploads({
  uploads = {},
  settings,
  ...options
}: Options = {}): Promise<GatewayWithUploads> {
  const agent = { baseUrl: 'http://127.0.0.1:9', apiKey: 'none' }
  const config = {
    agents: { openai: { ...agent, model: 'none' }, dify: agent },
    limits: {
      upload: PLENTY,
      calls: PLENTY,
      login: PLENTY,
      loginAddress: PLENTY,
      successfulLogins: PLENTY,
      writes: PLENTY,
      adminWrites: PLENTY,
      refusedKeys: PLENTY,
    },
    uploads,
    ...settings,
  }
  const gateway = await startGateway({ config: JSON.stringify(config), ...options })
  const api = apiOf(gateway)
  const token = await api.login()
  const key = await api.createKey(token, { permissions: ['upload'] })

  async function callsWhere(query: string): Promise<LedgerRow[]> {
    const { status, body } = await api.call('GET', `/api/v1/calls?limit=100${query}`, { token })
    if (status !== 200) throw new Error(`the calls cannot be read: ${JSON.stringify(body)}`)
    return body.data.items
  }

  async function settledWhere(query: string, isMeant: (row: LedgerRow) => boolean): Promise<LedgerRow[]> {
    return await until('the calls are settled', async () => {
      const rows = (await callsWhere(query)).filter(isMeant)
      return rows.every(({ outcome }) => outcome !== null) && rows
    })
  }

  return {
    gateway,
    api,
    token,
    key,
    async createUploader(name) {
      const user = await api.createUser(token, name, { role: 'premium' })
      const own = await api.login(name, user.password)
      return { ...(await api.createKey(own, { permissions: ['upload'] })), token: own }
    },
    send: (parts, more) => sendForm(gateway.url, key.full_key, formOf(...parts), more),
    async settledCall(callId) {
      const [row] = await settledWhere('', ({ id }) => id === callId)
      if (row === undefined) throw new Error(`the call ${callId} is not in the ledger`)
      return row
    },
    settledCalls: ({ id }) => settledWhere(`&key_id=${id}`, () => true),
    async admitted({ id }) {
      await until('the call is admitted', async () => (await callsWhere(`&key_id=${id}`)).length > 0)
    },
    async inProgress(count) {
      await until(`${count} uploads are in progress`, async () => {
        const { body } = await api.call('GET', '/metrics')
        return body.includes(`\ntrunkline_uploads_in_flight ${count}\n`)
      })
    },
    async expectStored(...urls) {
      const expected = urls.map((url) => tokenIn(url)).sort()
      const isAsExpected = async () => {
        const tokens = (await gateway.storage.contents()).map((path) => tokenIn(`/${path}/`))
        return JSON.stringify(tokens.sort()) === JSON.stringify(expected)
      }
      if (!(await until('the storage is as expected', isAsExpected, 10_000).catch(() => false))) {
        expect(await gateway.storage.contents()).toEqual(expected)
      }
    },
  }
}

/** The 43 characters between slashes that name a file. */
function tokenIn(text: string): string {
  return /\/([\w-]{43})\//.exec(text)?.[1] ?? ''
}
