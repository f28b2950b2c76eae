import { createHmac } from 'node:crypto'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import { agentText } from './changes.ts'
import type { Config } from './load.ts'
import { SETTINGS } from './settings.ts'

/**
 * The configuration for the audit log. Of an agent it has what is public within the company, and a fingerprint of all the rest:
 * keys, proxies, certificates. So one can see that a key was changed, and not which it is.
 *
 * @param secret - keys the fingerprints, so that nobody who reads them can guess a credential by computing its fingerprint
 */
export function describeConfig(config: Config, secret: string): object {
  return {
    agents: Object.fromEntries(config.agents.map((agent) => [agent.id, describeAgent(agent, secret)])),
    ...Object.fromEntries(settingsOf(config)),
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
    fingerprint: hmac(agentText(agent), secret).slice(0, 12),
  }
}

/** A fingerprint of all of a configuration, secrets included, by which processes see whether they serve the same one. */
export function fingerprintOf(config: Config, secret: string): string {
  const agents = config.agents.map((agent) => (agent.sandbox ? agent.adapter.platform : agentText(agent)))
  return hmac(JSON.stringify([agents, settingsOf(config)]), secret).slice(0, 16)
}

function settingsOf(config: Config) {
  return Object.keys(SETTINGS).map((name) => [name, config[name as keyof Config]])
}

function hmac(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}
