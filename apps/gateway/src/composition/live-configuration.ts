import { agentText, fixedChanges, type LiveSettings, liveChanges } from '#config/changes.ts'
import { describeConfig, fingerprintOf } from '#config/describe-config.ts'
import type { Config } from '#config/load.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import type { ConfigurationSource } from '#core/configuration/configurations.ts'
import type { AgentParts } from './build-agents.ts'

/** The configuration file of this process and, in a worker, of its siblings. */
export interface ConfigurationFile {
  /**
   * Reads it anew.
   *
   * @throws Problem `configuration_invalid`
   */
  read(): Promise<Config>
  /** Has the siblings serve a configuration as well. */
  share(config: Config): void
  /** Calls the listener when a sibling has shared one. */
  onShared(listener: (config: Config) => void): void
}

export interface LiveConfigurationDeps extends Pick<AgentParts, 'catalog' | 'routes' | 'upstream'> {
  /** That of the start. */
  readonly config: Config
  /** The limits that the rooms read, which are changed in place. */
  readonly limits: LiveSettings['limits']
  readonly file: ConfigurationFile
  /** Keys the fingerprints; it is known once the database has been read. */
  readonly secret: () => string
}

/** Changes what a process serves, as far as that is possible without a restart. */
export function createLiveConfiguration(deps: LiveConfigurationDeps): ConfigurationSource {
  const { config: first, limits, file, catalog, routes, upstream, secret } = deps
  let served = first
  let fingerprint: string | undefined

  function serve(next: Config): void {
    // What has not changed stays the same object, so that whatever is known of it stays known.
    const before = new Map(served.agents.map((agent) => [agent.id, agent]))
    const agents = next.agents.map((agent) => same(before.get(agent.id), agent))
    served = { ...next, agents }
    fingerprint = undefined
    replaceProperties(limits, next.limits)
    catalog.replace(agents)
    routes.takeOver()
    upstream.keepFor(agents.flatMap(({ deployments }) => deployments.map(({ agent }) => agent)))
  }
  file.onShared(serve)

  return {
    served() {
      const config = served
      fingerprint ??= fingerprintOf(config, secret())
      return {
        fingerprint,
        needsRestart: fixedChanges(first, config),
        get description() {
          return describeConfig(config, secret())
        },
      }
    },
    async read() {
      const next = await file.read()
      return {
        fingerprint: fingerprintOf(next, secret()),
        description: describeConfig(next, secret()),
        needsRestart: fixedChanges(first, next),
        take() {
          serve(next)
          file.share(next)
        },
      }
    },
    changes: liveChanges,
  }
}

function same(before: ServedAgent | undefined, after: ServedAgent): ServedAgent {
  return before !== undefined && agentText(before) === agentText(after) ? before : after
}

function replaceProperties<Value extends object>(target: Value, source: Value): void {
  for (const name of Object.keys(target))
    if (!Object.hasOwn(source, name)) Reflect.deleteProperty(target, name)
  Object.assign(target, source)
}
