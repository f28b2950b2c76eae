import { randomInt } from 'node:crypto'
import { type Sandbox, startSandbox } from '@trunkline/sandbox'
import { apiOf } from '../support/api.ts'
import { startGateway } from '../support/gateway.ts'
import { type Front, startFront } from './front.ts'
import { type Replay, startReplay } from './replay.ts'
import { SUBJECTS, type Subject } from './subjects.ts'

/**
 * The entries of a subject: `plain`; `hasty`, `idle`, `brief`: with one short timeout each; `apps`: with two apps;
 * `twin`: the same two again; `open`: tells its reasoning and its nodes' data; `moving`: behind the front; `gone`: nothing
 * listens there; `replay`, `stale`: answer with transcripts, the latter with a short timeout.
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

export interface Stage {
  readonly url: string
  readonly sandbox: Sandbox
  /** The same platforms, without memory of what the first ones were told. */
  readonly elsewhere: Sandbox
  readonly front: Front
  readonly replay: Replay
  /** Keys of two owners. */
  readonly keys: { readonly mine: string; readonly theirs: string }
  /** Ends the gateway and reads what it wrote of its calls. */
  ledger(): Promise<LedgerRow[]>
  remove(): Promise<void>
}

/** Longer than a busy machine keeps a refusal waiting. */
export const HEADER_HOLD_MS = 2_000
const KEEP_ALIVE_MS = 150
const HASTY = { firstByteMs: 300, idleMs: 300 }

export async function openStage(): Promise<Stage> {
  const [sandbox, elsewhere] = [await startSandbox({ delayMs: 0 }), await startSandbox({ delayMs: 0 })]
  const [front, replay] = [await startFront(), await startReplay()]
  const gateway = await startGateway({
    config: JSON.stringify({
      agents: Object.assign({}, ...SUBJECTS.map((subject) => entriesOf(subject, { sandbox, front, replay }))),
      limits: { chat: { points: 1_000_000 } },
      chat: { keepAliveMs: KEEP_ALIVE_MS, headerHoldMs: HEADER_HOLD_MS, replyBytesMax: 256 * 1024 },
    }),
  })
  const api = apiOf(gateway)
  const token = await api.login()
  const somebody = await api.createUser(token, 'somebody')
  const mine = await api.createKey(token)
  const theirs = await api.createKey(token, { owner_id: somebody.id })
  return {
    url: gateway.url,
    sandbox,
    elsewhere,
    front,
    replay,
    keys: { mine: mine.full_key, theirs: theirs.full_key },
    async ledger() {
      await gateway.stop()
      return gateway.query<LedgerRow>(LEDGER)
    },
    async remove() {
      await gateway.remove()
      await Promise.all([sandbox.close(), elsewhere.close(), front.close(), replay.close()])
    },
  }
}

const LEDGER = `
SELECT request_id, agent, outcome::text, reason, platform_status, prompt_tokens, completion_tokens, total_tokens FROM calls`

export function agentId({ name }: Subject, variant: Variant): string {
  return variant === 'plain' ? name : `${name}-${variant}`
}

export function agentsOf(subject: Subject): readonly string[] {
  return VARIANTS.map((variant) => agentId(subject, variant))
}

/** A word of letters that nobody has used. */
export function fresh(): string {
  return Array.from({ length: 10 }, () => String.fromCharCode(97 + randomInt(26))).join('')
}

function entriesOf(
  subject: Subject,
  { sandbox, front, replay }: Pick<Stage, 'sandbox' | 'front' | 'replay'>,
): Record<string, object> {
  const { name, platform, key, entry, app, rewrite } = subject
  const { baseUrl: direct, keys } = sandbox.agents[platform]
  const apiKey = keys[key] ?? ''
  const baseUrl = rewrite === undefined ? direct : front.put(name, direct, rewrite)
  const plain = { platform, baseUrl, apiKey, ...entry }
  const { model: _model, ...bare } = plain as { model?: string }
  const apps = { ...bare, apps: { one: app(apiKey), two: app(apiKey) } }
  const variants: Record<Variant, object> = {
    plain,
    hasty: { ...plain, timeouts: HASTY },
    idle: { ...plain, timeouts: { idleMs: 300 } },
    brief: { ...plain, timeouts: { totalMs: 1_000 } },
    apps,
    twin: apps,
    open: { ...plain, reasoning: true, ...(platform === 'fastgpt' && { nodeData: 'full' }) },
    moving: { ...plain, baseUrl: front.put(`${name}-moving`, direct, rewrite) },
    gone: { ...plain, baseUrl: 'http://127.0.0.1:9' },
    replay: { ...plain, baseUrl: replay.origin },
    stale: { ...plain, baseUrl: replay.origin, timeouts: HASTY },
  }
  return Object.fromEntries(VARIANTS.map((variant) => [agentId(subject, variant), variants[variant]]))
}
