import { createHmac } from 'node:crypto'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import type { Config } from './load.ts'
import { SETTINGS } from './settings.ts'

/**
 * The configuration for the audit log. Of an agent it has what is public within the company, and a fingerprint of all the rest:
 * keys, proxies, certificates. So one can see that a key was changed, and not which it is.
 *
 * @param secret - keys the fingerprints, so that nobody who reads them can guess a credential by computing its fingerprint
 */
export function describeConfig(config: Config, secret: string): object {
  const settings = Object.keys(SETTINGS).map((name) => [name, config[name as keyof Config]])
  return {
    agents: Object.fromEntries(config.agents.map((agent) => [agent.id, describeAgent(agent, secret)])),
    ...Object.fromEntries(settings),
  }
}

function describeAgent(agent: ServedAgent, secret: string): object {
  // The emulators of a sandbox have other ports at each start.
  if (agent.sandbox) return { platform: agent.adapter.platform }
  return {
    platform: agent.adapter.platform,
    deployments: agent.deployments.map(({ id, agent: { baseUrl }, weight, priority, max }) => ({
      id,
      baseUrl,
      weight,
      priority,
      max,
    })),
    retry: agent.retry,
    breaker: agent.hasBreaker,
    concurrency: agent.concurrency,
    fingerprint: fingerprintOf(agent, secret),
  }
}

function fingerprintOf(agent: ServedAgent, secret: string): string {
  const text = JSON.stringify(agent, (name, value) => (name === 'adapter' ? undefined : value))
  return createHmac('sha256', secret).update(text).digest('hex').slice(0, 12)
}
