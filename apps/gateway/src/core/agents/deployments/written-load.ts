import { countOf, isObject, listOf } from '#core/base/values/json.ts'
import { type AgentLoad, BREAKER_STATES, type DeploymentLoad } from './load.ts'

/**
 * The most characters that a process writes at each heartbeat, because every process writes them every few seconds and reads
 * those of all others. They are enough for some hundreds of agents.
 */
const CHARACTERS_MAX = 32_768

/** A word of the table of errors. Anything else might be long, or a text that `jsonb` refuses, which would cost the lease. */
const REASON = /^[a-z_]{1,64}$/

/**
 * The JSON of what a process knows, of at most {@link CHARACTERS_MAX} characters. Counts of 0 and closed breakers are left
 * out. If it is too long, agents are left out as well, first those that have nothing else to report.
 */
export function writeLoad(agents: readonly AgentLoad[]): string {
  const inOrder = [...agents].sort((one, other) => Number(isResting(one)) - Number(isResting(other)))
  const written: string[] = []
  let room = CHARACTERS_MAX - '[]'.length
  for (const agent of inOrder) {
    const text = JSON.stringify(compact(agent))
    const taken = text.length + ','.length
    if (taken > room) continue
    room -= taken
    written.push(text)
  }
  return `[${written.join()}]`
}

/** Reads what {@link writeLoad} has written, perhaps in another version. It leaves out what it does not understand. */
export function readLoad(written: unknown): AgentLoad[] {
  return listOf(written)
    .filter(isObject)
    .flatMap(({ agent, inFlight, waiting, deployments }) =>
      typeof agent === 'string'
        ? {
            agent,
            inFlight: countOf(inFlight) ?? 0,
            waiting: countOf(waiting) ?? 0,
            deployments: listOf(deployments).flatMap(readDeployment),
          }
        : [],
    )
}

function readDeployment(written: unknown): DeploymentLoad[] {
  if (!isObject(written)) return []
  const { id, breaker = 'closed', servesOthers, isUnasked, inFlight, openSince, reason } = written
  const state = BREAKER_STATES.find((known) => known === breaker)
  if (typeof id !== 'string' || state === undefined) return []
  const since = countOf(openSince)
  return [
    {
      id,
      breaker: state,
      ...(servesOthers === true && { servesOthers }),
      ...(isUnasked === true && { isUnasked }),
      inFlight: countOf(inFlight) ?? 0,
      ...(since !== undefined && { openSince: since }),
      ...(typeof reason === 'string' && { reason }),
    },
  ]
}

/** Without what {@link readLoad} assumes. */
function compact({ agent, inFlight, waiting, deployments }: AgentLoad): object {
  return {
    agent,
    inFlight: inFlight || undefined,
    waiting: waiting || undefined,
    deployments: deployments.map(
      ({ id, breaker, servesOthers, isUnasked, inFlight: ofDeployment, openSince, reason }) => ({
        id,
        breaker: breaker === 'closed' ? undefined : breaker,
        servesOthers,
        isUnasked,
        inFlight: ofDeployment || undefined,
        openSince: openSince === undefined ? undefined : Math.round(openSince),
        reason: reason !== undefined && REASON.test(reason) ? reason : undefined,
      }),
    ),
  }
}

function isResting({ inFlight, waiting, deployments }: AgentLoad): boolean {
  return inFlight + waiting === 0 && deployments.every(({ breaker }) => breaker === 'closed')
}
