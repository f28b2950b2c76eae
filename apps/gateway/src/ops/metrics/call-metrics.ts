import { BREAKER_STATES, type LoadReader } from '#core/agents/deployments/load.ts'
import type { CallSteps } from '#core/calls/call-events.ts'
import type { Instruments } from './instruments.ts'
import type { ServedLabels } from './served-labels.ts'

/** How many words of platforms have series of their own; they are those of servers, so there are few. */
const WORDS_MAX = 50

const CALL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 1200]
const FIRST_CHUNK_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 45, 60, 120]
const OWN_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const WAIT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Counts chats by their agent, each of their attempts, and where their time went. */
export function createCallMetrics(instruments: Instruments, served: ServedLabels) {
  const { counter, gauge, histogram } = instruments
  let inFlight = 0
  const calls = counter(
    'trunkline_calls_total',
    'Admitted calls by agent, outcome and reason.',
    ['agent', 'outcome', 'reason'],
    served.ofAgents,
  )
  const attempts = counter(
    'trunkline_attempts_total',
    'Requests of calls that were sent to deployments of agents, by their result: done, or the reason of the failure.',
    ['agent', 'deployment', 'result'],
    {
      ...served.ofDeployments,
      // An alert looks for any increase of these.
      expected: () => served.deployments().map((each) => [...each, 'agent_credentials']),
    },
  )
  const callSeconds = histogram(
    'trunkline_call_duration_seconds',
    "Time from a call's dispatch to its end.",
    ['agent'],
    CALL_SECONDS,
    served.ofAgents,
  )
  const firstChunkSeconds = histogram(
    'trunkline_call_first_chunk_seconds',
    "Time from a call's dispatch to the first text.",
    ['agent'],
    FIRST_CHUNK_SECONDS,
    served.ofAgents,
  )
  const ownSeconds = histogram(
    'trunkline_call_own_seconds',
    "The gateway's own share of a call: from its arrival until its first request is sent, without the wait for a slot. Calls whose platform had to create a conversation or take a file first are left out.",
    ['agent'],
    OWN_SECONDS,
    served.ofAgents,
  )
  const waitSeconds = histogram(
    'trunkline_call_wait_seconds',
    'Time that calls waited for a slot of their agent; of those that waited and were sent.',
    ['agent'],
    WAIT_SECONDS,
    served.ofAgents,
  )
  const tokens = counter(
    'trunkline_tokens_total',
    'Tokens of ended calls as platforms reported them, by kind: input, output, or other for what a platform reports only in its total.',
    ['agent', 'kind'],
    served.ofAgents,
  )
  const unknownEnds = counter(
    'trunkline_unknown_finish_reasons_total',
    'Replies whose end the platform named with a word that the gateway does not know, and took for an ordinary end.',
    ['agent', 'word'],
    served.ofAgents,
  )
  const words = new Set<string>()
  gauge('trunkline_calls_in_flight', 'Calls that were dispatched and have not ended.', () => inFlight)

  /** Names a word itself as long as there are few of them, because a server may make them up. */
  function wordLabel(word: string): string {
    if (words.size < WORDS_MAX) words.add(word)
    return words.has(word) ? word : 'other'
  }

  return {
    steps: {
      admitted() {
        inFlight += 1
      },
      attempt_started({ call, attempt, queuedMs, ownMs }) {
        if (ownMs !== undefined) ownSeconds.add(ownMs / 1000, call.agent)
        if (attempt === 1 && queuedMs !== undefined) waitSeconds.add(queuedMs / 1000, call.agent)
      },
      attempt_ended({ call: { agent }, deployment, failure, isComplete, exchange }) {
        const result = failure?.reason ?? (isComplete ? 'done' : 'cancelled')
        attempts.add(1, agent, served.deployment(agent, deployment), result)
        const word = exchange?.unknownFinishWord
        if (word !== undefined) unknownEnds.add(1, agent, wordLabel(word))
      },
      settled({ call: { agent }, settled: { outcome, failure, durationMs, firstTextMs, usage } }) {
        inFlight -= 1
        calls.add(1, agent, outcome, failure?.reason)
        callSeconds.add(durationMs / 1000, agent)
        if (firstTextMs !== undefined) firstChunkSeconds.add(firstTextMs / 1000, agent)
        if (usage === undefined) return
        const { promptTokens, completionTokens, totalTokens } = usage
        tokens.add(promptTokens, agent, 'input')
        tokens.add(completionTokens, agent, 'output')
        tokens.add(Math.max(0, totalTokens - promptTokens - completionTokens), agent, 'other')
      },
    } satisfies CallSteps,
    watchLoad: watchLoad(instruments),
  }
}

/** The breakers of deployments, and the calls that agents carry and that wait for them. */
function watchLoad({ gauges }: Instruments): (load: LoadReader) => void {
  let load: LoadReader | undefined
  const agents = () => load?.load() ?? []
  const deployments = () =>
    agents().flatMap(({ agent, deployments: each }) =>
      each.map(({ id: deployment, ...known }) => ({ labels: { agent, deployment }, ...known })),
    )
  gauges(
    'trunkline_breaker_state',
    'Whether calls go to a deployment: 0 they do (closed), though those of an owner whose own calls fail there may be refused, 1 one call tries it (half open), 2 they do not (open); of several workers the worst.',
    ['agent', 'deployment'],
    () => deployments().map(({ labels, breaker }) => [labels, BREAKER_STATES.indexOf(breaker)]),
    'max',
  )
  gauges(
    'trunkline_agent_calls_in_flight',
    'Calls in progress at a deployment.',
    ['agent', 'deployment'],
    () => deployments().map(({ labels, inFlight }) => [labels, inFlight]),
  )
  gauges('trunkline_agent_calls_waiting', 'Calls that wait for a slot of their agent.', ['agent'], () =>
    agents().map(({ agent, waiting }) => [{ agent }, waiting]),
  )
  return (watched) => {
    load = watched
  }
}
