import type { EnvironmentConfig } from '#config/load.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { isObject } from '#core/base/values/json.ts'

const ANSWER_WITHIN_MS = 5_000
const PATHS = { ready: '/readyz', live: '/healthz' } as const
/** Addresses that mean all interfaces, and the one of them that is this machine's own. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export interface HealthReport {
  readonly isGood: boolean
  /** One line for the operator. */
  readonly line: string
}

/**
 * Asks the gateway that runs on this machine with the same environment whether it is ready or, with `live`, only whether it is
 * alive.
 *
 * @throws OperatorError if the port cannot be known
 */
export async function checkHealth(
  { host, port, opsPort }: Pick<EnvironmentConfig, 'host' | 'port' | 'opsPort'>,
  question: keyof typeof PATHS,
): Promise<HealthReport> {
  const asked = opsPort ?? port
  if (asked === 0)
    throw new OperatorError('PORT: is 0, so the gateway chose a port that this command cannot know.')
  const name = LOOPBACK[host] ?? host
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${asked}${PATHS[question]}`
  try {
    // A redirect is no answer of a gateway.
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    const text = await response.text()
    return judge(response.status, text, `The gateway at ${url}`)
  } catch (error) {
    return { isGood: false, line: `The gateway at ${url} does not answer: ${reasonOf(error)}.` }
  }
}

function judge(status: number, text: string, gateway: string): HealthReport {
  const body = parsed(text)
  const state = isObject(body) ? body.status : undefined
  if (status === 200 && (state === 'ready' || state === 'ok'))
    return { isGood: true, line: `${gateway} is ${state === 'ok' ? 'alive' : 'ready'}.` }
  if (status !== 503 || !isObject(body) || typeof state !== 'string')
    return { isGood: false, line: `${gateway} gave an answer of something else (${status}).` }
  const reasons = Object.entries(isObject(body.dependencies) ? body.dependencies : {}).flatMap(badDependency)
  const because = reasons.length > 0 ? `: ${reasons.join(', ')}` : ''
  return { isGood: false, line: `${gateway} is ${state.replaceAll('_', ' ')}${because}.` }
}

function badDependency([name, state]: [string, unknown]): string[] {
  if (!isObject(state) || state.ok !== false) return []
  return [typeof state.detail === 'string' ? `${name} (${state.detail})` : name]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `fetch` says only that it failed; why is in the cause, which of several addresses has a message for each. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer for ${ANSWER_WITHIN_MS / 1000} s`
  return error.cause instanceof Error ? error.cause.message : error.message
}
