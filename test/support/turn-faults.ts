import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { ERRORS, type ErrorReason } from '@trunkline/gateway/src/core/base/errors/errors.ts'
import { type Api, apiOf } from './api.ts'
import { CLOSED_PORT } from './free-port.ts'
import { startGateway } from './gateway.ts'
import { startPlatforms, type TestedPlatform, type TestedPlatforms } from './platforms.ts'
import { payloadsOf } from './stream.ts'
import { until } from './until.ts'

/** The platforms of the matrix. */
export const PLATFORMS: readonly TestedPlatform[] = [
  'fastgpt',
  'hiagent',
  'dify',
  'coze',
  'openai',
  'a2a',
  'langgraph',
]

/** How the caller asks for the reply. */
export const WAYS = ['stream', 'json'] as const
export type Way = (typeof WAYS)[number]

/** What goes wrong with a call, and what is known of its turn afterwards. */
export interface TurnFault {
  /** A part of the ids of its agents: at most 12 lower-case letters and hyphens. */
  readonly id: string
  /** Returns the address in the agent's entry, given those of the emulator and of a port that resets every connection. */
  readonly at?: (baseUrl: URL, resettingPort: number) => void
  /** The fault word for the emulator; empty if no request reaches it. */
  readonly word: string
  /** What one request makes the platform store. */
  readonly stored: 0 | 1
  /** The platforms that are proven to store nothing: by the connection that was never used, or by a recorded refusal. */
  readonly none: readonly TestedPlatform[]
  /** The reasons that the caller may get. */
  readonly reasons: readonly ErrorReason[]
  /** The reasons of single platforms, which know more of the run when they are asked; null for a success. */
  readonly otherwise?: Readonly<Partial<Record<TestedPlatform, ErrorReason | null>>>
  /** Whether a stream begins before the fault strikes. */
  readonly isMidStream?: true
  readonly timeouts?: Readonly<Record<string, number>>
}

const NOBODY: readonly TestedPlatform[] = []

/** Every way in which a call may fail between gateway and platform. */
export const TURN_FAULTS: readonly TurnFault[] = [
  {
    id: 'unknown-name',
    at: (url) => {
      url.hostname = 'platform.invalid'
    },
    word: '',
    stored: 0,
    none: PLATFORMS,
    reasons: ['agent_unreachable'],
  },
  {
    id: 'refused',
    at: (url) => {
      url.port = String(CLOSED_PORT)
    },
    word: '',
    stored: 0,
    none: PLATFORMS,
    reasons: ['agent_unreachable'],
  },
  {
    id: 'no-tls',
    // The emulator answers the greeting of TLS in plain HTTP.
    at: (url) => {
      url.protocol = 'https:'
    },
    word: '',
    stored: 0,
    none: PLATFORMS,
    reasons: ['agent_unreachable'],
  },
  {
    id: 'reset-before',
    at: (url, resettingPort) => {
      url.port = String(resettingPort)
    },
    word: '',
    stored: 0,
    // The gateway may have begun to write when the reset comes, and then cannot know.
    none: NOBODY,
    reasons: ['agent_unreachable', 'agent_truncated'],
  },
  {
    id: 'reset-after',
    word: 'sandbox:reset-first',
    stored: 1,
    none: NOBODY,
    reasons: ['agent_truncated'],
  },
  {
    id: 'wrong-key',
    word: 'sandbox:error=credentials',
    stored: 0,
    none: PLATFORMS,
    reasons: ['agent_credentials'],
  },
  {
    id: 'rate-limit',
    word: 'sandbox:error=rate-limit',
    stored: 0,
    // No such reply of the others is recorded.
    none: ['fastgpt', 'dify', 'coze'],
    reasons: ['agent_rate_limited'],
  },
  {
    id: 'failed',
    word: 'sandbox:error=server',
    stored: 0,
    none: NOBODY,
    reasons: ['agent_error'],
  },
  {
    id: 'failed-after',
    word: 'sandbox:error-stored',
    stored: 1,
    none: NOBODY,
    reasons: ['agent_error'],
  },
  { id: 'proxy-page', word: 'sandbox:html=503', stored: 1, none: NOBODY, reasons: ['agent_error'] },
  {
    id: 'hang',
    word: 'sandbox:hang',
    stored: 1,
    none: NOBODY,
    reasons: ['agent_timeout'],
    timeouts: { firstByteMs: 800 },
  },
  {
    id: 'cut-short',
    // A reply of two fragments breaks after the first one.
    word: 'sandbox:long=2 sandbox:reset',
    stored: 1,
    none: NOBODY,
    reasons: ['agent_truncated'],
    // Dify keeps the answer. The task of an A2A agent works on, so it is asked about until its time is over.
    otherwise: { dify: null, a2a: 'agent_timeout' },
    isMidStream: true,
    timeouts: { totalMs: 2_000 },
  },
  { id: 'error-first', word: 'sandbox:error-first', stored: 1, none: NOBODY, reasons: ['agent_error'] },
]

/** One call that met a fault, seen by its caller, by the emulator and by the ledger. */
export interface FaultOutcome {
  readonly status: number
  readonly reason: string | undefined
  /** The turns that the emulator has stored for it. */
  readonly turns: number
  /** The rows of the ledger, which have all been settled. */
  readonly rows: readonly { readonly reason: string | null; readonly outcome: string | null }[]
  /** The calls that count for its key. */
  readonly counted: number
}

/** A gateway in front of the emulators. */
export interface TurnFaults {
  readonly sandbox: TestedPlatforms
  /** Makes one call with an API key of its own. */
  meet(fault: TurnFault, platform: TestedPlatform, way: Way): Promise<FaultOutcome>
  remove(): Promise<void>
}

/**
 * Starts emulators and a gateway. Each fault, platform and way has an agent of its own, so that a fault
 * neither opens the breaker nor rests the credential of another.
 */
export async function startTurnFaults(): Promise<TurnFaults> {
  const sandbox = await startPlatforms()
  const resetting = await startResettingPort()
  const agents: Record<string, object> = {}
  for (const fault of TURN_FAULTS) {
    for (const platform of PLATFORMS) {
      for (const way of WAYS) {
        agents[agentId(fault, platform, way)] = entryOf(sandbox, platform, fault, resetting.port)
      }
    }
  }
  const plenty = { points: 1_000_000 }
  const limits = { chat: plenty, calls: plenty, reads: plenty, writes: plenty, adminWrites: plenty }
  const gateway = await startGateway({ config: JSON.stringify({ limits, agents }) })
  const api = apiOf(gateway)
  const token = await api.login()
  return {
    sandbox,
    async meet(fault, platform, way) {
      const { id, full_key: key } = await api.createKey(token)
      const query = `${fault.word} ${randomUUID()}`.trim()
      const response = await api.chat(key, agentId(fault, platform, way), {
        app_id: platform === 'fastgpt' ? 'app-1' : '',
        chat_id: query,
        conversation_id: query,
        stream: way === 'stream',
        query,
      })
      const reason = reasonIn(await response.text())
      return {
        status: response.status,
        reason,
        ...(await settled(api, token, id)),
        turns: sandbox.agents[platform].seen.turns({ query }),
      }
    },
    async remove() {
      await gateway.remove()
      await Promise.all([sandbox.close(), resetting.close()])
    },
  }
}

/** Returns the status of the answer, which for a stream that has begun is 200. */
export function statusOf({ isMidStream }: TurnFault, way: Way, reason: ErrorReason | null): number {
  return reason === null || (way === 'stream' && isMidStream === true) ? 200 : ERRORS[reason].status
}

function agentId({ id }: TurnFault, platform: TestedPlatform, way: Way): string {
  return `${platform}-${id}-${way}`
}

function entryOf(
  { agents }: TestedPlatforms,
  platform: TestedPlatform,
  { at, timeouts }: TurnFault,
  resettingPort: number,
): object {
  const { baseUrl, apiKey, options } = agents[platform]
  const url = new URL(baseUrl)
  at?.(url, resettingPort)
  return { platform, baseUrl: url.href, apiKey, ...options, ...(timeouts && { timeouts }) }
}

async function settled(
  api: Api,
  token: string,
  keyId: string,
): Promise<Pick<FaultOutcome, 'rows' | 'counted'>> {
  const rows = await until('the call has ended', async () => {
    const { status, body } = await api.call('GET', `/api/v1/calls?limit=100&key_id=${keyId}`, { token })
    if (status !== 200) throw new Error(`the ledger was answered ${status}: ${JSON.stringify(body)}`)
    const listed: FaultOutcome['rows'] = body.data.items
    return listed.length > 0 && listed.every(({ outcome }) => outcome !== null) && listed
  })
  const { body } = await api.call('GET', `/api/v1/api-keys/${keyId}`, { token })
  return { rows, counted: body.data.usage.total_calls }
}

function reasonIn(text: string): string | undefined {
  return text.startsWith('{')
    ? JSON.parse(text).reason
    : JSON.parse(payloadsOf(text).findLast((payload) => payload !== '[DONE]') ?? '{}').error?.code
}

/** Listens on a port where every connection is reset as soon as it is accepted. */
async function startResettingPort(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.resetAndDestroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}
