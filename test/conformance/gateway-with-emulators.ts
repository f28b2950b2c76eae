import { randomInt } from 'node:crypto'
import type { Dialect } from '@trunkline/gateway/test/agents/dialect.test-support.ts'
import type { SandboxAgent } from '@trunkline/sandbox'
import { apiOf } from '../support/api.ts'
import { startGateway } from '../support/gateway.ts'
import { type Replay, startReplay } from './replay.ts'
import { type RewritingProxy, startRewritingProxy } from './rewriting-proxy.ts'

/**
 * The agents that are configured for each dialect:
 * - `plain` has no special options.
 * - `hasty`, `idle` and `brief` have one short timeout each.
 * - `apps` has two apps, and `twin` has the same two.
 * - `open` sends its reasoning and the data of its nodes.
 * - `moving` is reached through the rewriting proxy.
 * - `gone` has an address where nothing listens.
 * - `replay` and `stale` answer with transcripts, `stale` with a short timeout.
 * - `played` answers with what a check writes; it waits little after an end, and reads tags as reasoning.
 */
const VARIANTS = [
  'plain',
  'hasty',
  'idle',
  'brief',
  'apps',
  'twin',
  'open',
  'moving',
  'gone',
  'replay',
  'stale',
  'played',
] as const
export type Variant = (typeof VARIANTS)[number]

export interface LedgerRow {
  readonly request_id: string
  readonly agent: string
  readonly outcome: string | null
  readonly reason: string | null
  readonly platform_status: number | null
  readonly prompt_tokens: number | null
  readonly completion_tokens: number | null
  readonly total_tokens: number | null
}

/** One emulator for each platform. */
export interface Emulators {
  readonly agents: Readonly<Record<string, SandboxAgent>>
  close(): Promise<void>
}

/** The platforms that are tested behind a gateway. */
export interface Platforms {
  /** The directory that contains their folders. */
  readonly folders: URL
  readonly dialects: readonly Dialect[]
  startEmulators(): Promise<Emulators>
  /** Path of the module that starts the gateway, if the platforms are not built in. */
  readonly main?: string
}

export interface GatewayWithEmulators {
  readonly url: string
  readonly emulators: Emulators
  /** The same platforms again, which do not know the conversations of the first ones. */
  readonly elsewhere: Emulators
  /** The directory that contains the folders of the platforms. */
  readonly folders: URL
  readonly proxy: RewritingProxy
  readonly replay: Replay
  /** API keys of two owners. */
  readonly keys: { readonly mine: string; readonly theirs: string }
  /** Stops the gateway and reads its ledger. */
  ledger(): Promise<LedgerRow[]>
  remove(): Promise<void>
}

/** Longer than a rejection takes on a busy machine. */
export const HEADER_HOLD_MS = 2_000
const KEEP_ALIVE_MS = 150
export const END_GRACE_MS = 150
const HASTY = { firstByteMs: 300, idleMs: 300 }

export async function startGatewayWithEmulators(platforms: Platforms): Promise<GatewayWithEmulators> {
  const { folders, dialects, main } = platforms
  const [emulators, elsewhere] = [await platforms.startEmulators(), await platforms.startEmulators()]
  const [proxy, replay] = [await startRewritingProxy(), await startReplay(folders)]
  const gateway = await startGateway({
    ...(main !== undefined && { main }),
    config: JSON.stringify({
      agents: Object.assign(
        {},
        ...dialects.map((dialect) => entriesOf(dialect, { emulators, proxy, replay })),
      ),
      limits: { chat: { points: 1_000_000 }, upload: { points: 1_000_000 } },
      chat: { keepAliveMs: KEEP_ALIVE_MS, headerHoldMs: HEADER_HOLD_MS, replyBytesMax: 256 * 1024 },
    }),
  })
  const api = apiOf(gateway)
  const token = await api.login()
  const otherUser = await api.createUser(token, 'somebody')
  const mine = await api.createKey(token, { permissions: ['chat', 'upload'] })
  const theirs = await api.createKey(token, { owner_id: otherUser.id })
  return {
    url: gateway.url,
    emulators,
    elsewhere,
    folders,
    proxy,
    replay,
    keys: { mine: mine.full_key, theirs: theirs.full_key },
    async ledger() {
      await gateway.stop()
      return gateway.query<LedgerRow>(LEDGER)
    },
    async remove() {
      await gateway.remove()
      await Promise.all([emulators.close(), elsewhere.close(), proxy.close(), replay.close()])
    },
  }
}

/** Without requests that were refused because their admission took too long, and were sent again. */
const LEDGER = `
SELECT request_id, agent, outcome::text, reason, platform_status, prompt_tokens, completion_tokens, total_tokens FROM calls
WHERE kind = 'chat' AND reason IS DISTINCT FROM 'unavailable'`

export function emulatorOf({ agents }: Emulators, { platform }: Dialect): SandboxAgent {
  const emulator = agents[platform]
  if (emulator === undefined) throw new Error(`${platform} has no emulator`)
  return emulator
}

export function agentId({ name }: Dialect, variant: Variant): string {
  return variant === 'plain' ? name : `${name}-${variant}`
}

export function agentsOf(dialect: Dialect): readonly string[] {
  return VARIANTS.map((variant) => agentId(dialect, variant))
}

/** Returns a unique word of letters. */
export function fresh(): string {
  return Array.from({ length: 10 }, () => String.fromCharCode(97 + randomInt(26))).join('')
}

function entriesOf(
  dialect: Dialect,
  { emulators, proxy, replay }: Pick<GatewayWithEmulators, 'emulators' | 'proxy' | 'replay'>,
): Record<string, object> {
  const { name, platform, key, entry, app, rewrite } = dialect
  const { baseUrl: direct, keys } = emulatorOf(emulators, dialect)
  const apiKey = keys[key] ?? ''
  const baseUrl = rewrite === undefined ? direct : proxy.route(name, direct, rewrite)
  // One failure comes after the other.
  const plain = { platform, baseUrl, apiKey, breaker: false, ...entry }
  const { model: _model, ...bare } = plain as { model?: string }
  const apps = { ...bare, apps: { one: app(apiKey), two: app(apiKey) } }
  const variants: Record<Variant, object> = {
    plain,
    hasty: { ...plain, timeouts: HASTY },
    idle: { ...plain, timeouts: { idleMs: 300 } },
    brief: { ...plain, timeouts: { totalMs: 1_000 } },
    apps,
    twin: apps,
    open: { ...plain, reasoning: true, ...(dialect.showsNodeData && { nodeData: 'full' }) },
    moving: { ...plain, baseUrl: proxy.route(`${name}-moving`, direct, rewrite) },
    gone: { ...plain, baseUrl: 'http://127.0.0.1:9' },
    replay: { ...plain, baseUrl: replay.origin },
    stale: { ...plain, baseUrl: replay.origin, timeouts: HASTY },
    played: { ...plain, baseUrl: replay.origin, endGraceMs: END_GRACE_MS, reasoning: true, thinkTags: true },
  }
  return Object.fromEntries(VARIANTS.map((variant) => [agentId(dialect, variant), variants[variant]]))
}
