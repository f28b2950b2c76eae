import type { Config } from '#config/load.ts'
import type { Agent } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { MAIN_DEPLOYMENT, type ServedAgent } from '#core/agents/served-agent.ts'
import { OpeningFailed } from '#core/agents/upstream/opening-failed.ts'
import { createUpstream, type Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { type Finding, findingsOf } from './finding.ts'

const PROBE_MS = 5_000
const PROBES_AT_ONCE = 8

interface Probe {
  /** The agent, its deployment if it has several, and the app whose key it is. */
  readonly path: string
  readonly agent: Agent
}

/** Asks every deployment's platform by its probe, once for each key that is configured. */
export async function checkAgents(config: Config): Promise<readonly Finding[]> {
  const { replyBytesMax, unsentBytesMax } = config.chat
  const upstream = createUpstream({ replyBytesMax, unsentBytesMax })
  const probes = config.agents.flatMap(probesOf)
  const findings: Finding[] = []
  while (probes.length > 0) {
    const some = probes.splice(0, PROBES_AT_ONCE)
    findings.push(...(await Promise.all(some.map((probe) => run(upstream, probe)))))
  }
  await upstream.close()
  return findings
}

function probesOf({ id, deployments }: ServedAgent): Probe[] {
  return deployments.flatMap((deployment) => {
    const isOnly = deployments.length === 1 && deployment.id === MAIN_DEPLOYMENT
    return probesOfKeys(deployment.agent, isOnly ? `agents.${id}` : `agents.${id}/${deployment.id}`)
  })
}

/** The adapters probe with the key of the agent, so an app with its own key is probed as an agent of its own. */
function probesOfKeys(agent: Agent, path: string): Probe[] {
  const ofApps = agent.apps.flatMap((app) =>
    app.apiKey === undefined
      ? []
      : [{ path: `${path}.apps.${app.id}`, agent: { ...agent, apiKey: app.apiKey, apps: [app] } }],
  )
  return agent.apiKey === undefined && ofApps.length > 0 ? ofApps : [{ path, agent }, ...ofApps]
}

async function run(upstream: Upstream, { path, agent }: Probe): Promise<Finding> {
  const { ok, warning, error } = findingsOf(path)
  const platform = `${path}: ${agent.adapter.displayName} at ${new URL(agent.baseUrl).host}`
  try {
    const card = await upstream.cards.of(agent, PROBE_MS)
    const result = await upstream.help(agent, agent.adapter.probe(agent, card), PROBE_MS)
    if ('failure' in result) return error(`${platform} ${inWords(result.failure)}.`)
    return result.ok === 'available'
      ? ok(`${platform} answers and accepts the key.`)
      : warning(`${platform} answers, but is busy or does not know the request that checks the key.`)
  } catch (cause) {
    if (cause instanceof OpeningFailed) return error(`${platform} ${ofCard(cause.failure)}.`)
    if (!(cause instanceof UpstreamError)) throw cause
    const code = cause.note ?? errorCode(cause.cause)
    return error(`${platform} ${UNREACHABLE[cause.reason]}${code === undefined ? '' : ` (${code})`}.`)
  }
}

/** The message of the failure is not shown, since it may repeat what the platform has been sent. */
function inWords({ reason, platformStatus }: Failure): string {
  const answer = platformStatus === undefined ? reason : `${reason}, status ${platformStatus}`
  return reason === 'agent_credentials' ? `refuses the key (${answer})` : `gives a wrong answer (${answer})`
}

function ofCard({ reason, platformStatus, note }: Failure): string {
  const answer = platformStatus === undefined ? reason : `${reason}, status ${platformStatus}`
  return `has no card that can be used (${[answer, note].filter(Boolean).join('; ')})`
}

const UNREACHABLE: Readonly<Record<UpstreamError['reason'], string>> = {
  agent_unreachable: 'cannot be reached',
  agent_timeout: `does not answer within ${PROBE_MS / 1_000} s`,
  agent_malformed: 'does not answer as an HTTP server',
  agent_truncated: 'ends the connection before its answer is complete',
  agent_error: 'gives too large an answer',
  agent_misconfigured: 'sends requests elsewhere',
}
