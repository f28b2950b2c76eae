import type { Agent } from '#core/agents/adapter.ts'
import {
  type Concurrency,
  type Deployment,
  MAIN_DEPLOYMENT,
  type ServedAgent,
  servedBySelf,
} from '#core/agents/served-agent.ts'
import type { DeploymentEntry } from './deployment-entry.ts'
import { type ConfigIssue, pathOf } from './issues.ts'
import { type AgentEntry, QUEUE_STANDARD } from './schema.ts'

/**
 * The entry as one of its deployments serves it. This is the only place where properties are inherited: whatever a deployment
 * may have and has replaces what the entry has, time limits and apps one by one.
 */
export function inherit(entry: AgentEntry, deployment: DeploymentEntry): AgentEntry {
  const { id, weight, disabled, priority, state, formerly, max, timeouts, apps, ...replaced } = deployment
  const merged = Object.entries(entry.apps).map(([appId, app]) => [appId, { ...app, ...apps[appId] }])
  return {
    ...entry,
    ...replaced,
    timeouts: { ...entry.timeouts, ...timeouts },
    apps: Object.fromEntries(merged),
  }
}

/**
 * The agent of an entry without contradictions.
 *
 * @param toAgent - makes the agent of an entry, its own or one that a deployment has inherited; `place` is where its files are
 * named, within the entry
 */
export function serve(entry: AgentEntry, toAgent: (entry: AgentEntry, place: string) => Agent): ServedAgent {
  const list = entry.deployments
  const deployments = list?.map((each, index) =>
    toDeployment(each, toAgent(inherit(entry, each), each.ca === undefined ? '' : `.deployments[${index}]`)),
  )
  // An entry whose deployments have all addresses has none itself; what concerns the agent is alike in all of them.
  const self = servedBySelf(findMain(deployments ?? [])?.agent ?? toAgent(entry, ''))
  const { attempts, firstByteMs } = entry.retry
  return {
    ...self,
    deployments: deployments ?? self.deployments,
    isListed: deployments !== undefined,
    retry: { attempts, firstByteMs },
    hasBreaker: entry.breaker,
    concurrency: concurrencyOf(entry),
  }
}

function toDeployment(entry: DeploymentEntry, agent: Agent): Deployment {
  const { id, weight, disabled, priority, state, formerly, max } = entry
  return {
    id,
    agent,
    weight: disabled ? 0 : weight,
    priority,
    state: state ?? id,
    sharesState: state !== undefined,
    formerly,
    max,
  }
}

const UNLIMITED = { max: undefined, perOwner: undefined, perKey: undefined }

/** A limit of a deployment makes calls wait as well. */
function concurrencyOf({ concurrency, deployments = [] }: AgentEntry): Concurrency | undefined {
  const isLimited = concurrency !== undefined || deployments.some(({ max }) => max !== undefined)
  return isLimited ? { ...UNLIMITED, ...QUEUE_STANDARD, ...concurrency } : undefined
}

/** The deployment to which conversations from the time before the list belong. */
function findMain<Each extends Pick<Deployment, 'id' | 'formerly'>>(list: readonly Each[]): Each | undefined {
  return (
    list.find(({ id }) => id === MAIN_DEPLOYMENT) ??
    list.find(({ formerly }) => formerly.includes(MAIN_DEPLOYMENT))
  )
}

/** Reports lists by which calls and conversations would find no deployment, or a wrong one. */
export function findContradictionsOfList(list: readonly DeploymentEntry[], path: string): ConfigIssue[] {
  if (list.length === 0) return [{ path, problem: 'expected one at least' }]
  const issues: ConfigIssue[] = []
  if (findMain(list) === undefined) {
    const problem = `expected one with the id "${MAIN_DEPLOYMENT}" or with it under "formerly", for conversations from before the list`
    issues.push({ path, problem })
  } else if (list.every(({ weight, disabled }) => disabled || weight === 0)) {
    issues.push({ path, problem: 'expected one with a weight, as none would take new conversations' })
  }
  return [...issues, ...findRepeatedIds(list, path), ...findAmbiguousStates(list, path)]
}

function findRepeatedIds(list: readonly DeploymentEntry[], path: string): ConfigIssue[] {
  const uses = [
    ...list.map(({ id }, index) => ({ id, at: `[${index}].id` })),
    ...list.flatMap(({ formerly }, index) =>
      formerly.map((id, position) => ({ id, at: `[${index}].formerly[${position}]` })),
    ),
  ]
  return uses.flatMap(({ id, at }, index) => {
    const first = uses.findIndex((use) => use.id === id)
    const problem = `"${id}" is there already, at deployments${uses[first]?.at}`
    return first === index ? [] : [{ path: path + at, problem }]
  })
}

/** Reports states by which a conversation could reach a deployment that does not have it. */
function findAmbiguousStates(list: readonly DeploymentEntry[], path: string): ConfigIssue[] {
  return list.flatMap((deployment, index) => {
    const { state, formerly } = deployment
    const owner = list.findIndex((each) => each.id === state && each.state === undefined)
    const ofOwner = {
      path: `${path}[${index}].state`,
      problem: `"${state}" is the id of deployments[${owner}], which does not name it as its state`,
    }
    const ofTaken = formerly.flatMap((id, position) => {
      const other = list.findIndex((each) => each.state === id && state !== id)
      const problem = `"${id}" is the state of deployments[${other}], which would have these conversations`
      return other < 0 ? [] : [{ path: `${path}[${index}].formerly[${position}]`, problem }]
    })
    return [...(state === undefined || owner < 0 ? [] : [ofOwner]), ...ofTaken]
  })
}

/** Reports apps of a deployment that its agent does not have. */
export function findUnknownApps(entry: AgentEntry, { apps }: DeploymentEntry, path: string): ConfigIssue[] {
  return Object.keys(apps)
    .filter((id) => !Object.hasOwn(entry.apps, id))
    .map((id) => ({ path: pathOf(`${path}.apps`, id), problem: 'is no app of the agent' }))
}

/**
 * Reports deployments that need other fields of a call than the first one: clients are told what the agent requires, and do not
 * know which deployment will answer.
 */
export function findUnequalRequirements(served: ServedAgent, path: string): ConfigIssue[] {
  const [first = [], ...others] = served.deployments.map(({ agent }) => agent.requires)
  return others.flatMap((requires, index) => {
    if (String(requires) === String(first)) return []
    const needs = (fields: readonly string[]) => fields.join(' and ') || 'nothing'
    const problem = `calls of it need ${needs(requires)}, and calls of deployments[0] ${needs(first)}`
    return [{ path: `${path}[${index + 1}]`, problem }]
  })
}

/** Reports limits of an entry that have no effect, or exceed those that they are part of. */
export function findContradictionsOfLimits(entry: AgentEntry, path: string): ConfigIssue[] {
  const { retry, concurrency, timeouts, deployments = [] } = entry
  const issues: ConfigIssue[] = []
  const places = [
    { at: 'timeouts', ms: timeouts.firstByteMs },
    ...deployments.flatMap(({ timeouts: own }, index) => {
      return own?.firstByteMs === undefined
        ? []
        : [{ at: `deployments[${index}].timeouts`, ms: own.firstByteMs }]
    }),
  ]
  const shorter = places.find(({ ms }) => ms < (retry.firstByteMs ?? 0))
  if (shorter !== undefined) {
    const problem = `expected at most ${shorter.ms}, which is ${shorter.at}.firstByteMs, got ${retry.firstByteMs}`
    issues.push({ path: `${path}.retry.firstByteMs`, problem })
  }
  if (concurrency === undefined) return issues
  const { max, perOwner, perKey } = concurrency
  const bounds = [
    ['max', max],
    ['perOwner', perOwner],
    ['perKey', perKey],
  ] as const
  // Each is part of those before it.
  bounds.forEach(([name, bound], index) => {
    const outer = bounds.slice(0, index).find(([, most]) => most !== undefined && (bound ?? 0) > most)
    if (outer === undefined) return
    const problem = `expected at most ${outer[1]}, which is concurrency.${outer[0]}, got ${bound}`
    issues.push({ path: `${path}.concurrency.${name}`, problem })
  })
  const limits = [max, perOwner, perKey, ...deployments.map((each) => each.max)]
  if (limits.every((limit) => limit === undefined)) {
    const problem = 'limits nothing: expected max, perOwner or perKey, or the max of a deployment'
    issues.push({ path: `${path}.concurrency`, problem })
  }
  return issues
}
