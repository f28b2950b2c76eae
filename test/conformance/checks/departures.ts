import { transcriptsOf } from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import type { SeenRun } from '@trunkline/sandbox'
import { expect } from 'vitest'
import { fresh } from '../gateway-with-emulators.ts'
import { replayOf } from '../replay.ts'
import type { Check, Trial } from '../trial.ts'

const ENDLESS = 'sandbox:slow=10 sandbox:long=100000'
const WITHIN_MS = 100

/** These checks run without concurrent calls, so that the newest run at the emulator belongs to the check. */
export const DEPARTURES = {
  async 'GONE-01'(trial) {
    await bestOfThree(async (timer) => {
      const opened = await timer.begins(trial.open({ query: ENDLESS }))
      await opened.until(/网关/)
      const run = newestRun(trial)
      opened.leave()
      await timer.stops(stopped(trial, run))
    })
  },

  async 'GONE-02'(trial) {
    await bestOfThree(async (timer) => {
      const before = newestRun(trial)
      const begun = trial.seen.waitFor(() => newestRun(trial) !== before && newestRun(trial))
      await timer.begins(trial.askAndLeave({ query: ENDLESS }, begun))
      // The first bytes, which contain the run's id, are already being sent.
      await timer.stops(stopped(trial, await begun))
    })
  },

  async 'GONE-03'(trial) {
    const firstByteMs = 200
    await bestOfThree(async (timer) => {
      const before = newestRun(trial)
      const begun = trial.seen.waitFor(() => newestRun(trial) !== before && newestRun(trial))
      await timer.begins(trial.askAndLeave({ query: `sandbox:slow-first=${firstByteMs} ${ENDLESS}` }, begun))
      await timer.stops(stopped(trial, await begun))
    }, firstByteMs + WITHIN_MS)
  },

  async 'GONE-04'(trial) {
    const [transcript] = transcriptsOf(trial.dialect.platform, trial.setup.folders).filter(
      ({ outcome }) => outcome === 'ok',
    )
    await bestOfThree(async (timer) => {
      const query = replayOf(transcript?.name ?? '', 'hold', fresh())
      const opened = await timer.begins(trial.open({ query, variant: 'replay' }))
      await opened.until(/"content":"/)
      opened.leave()
      await timer.stops(trial.setup.replay.closed(query))
    })
  },
} satisfies Record<string, Check>

/** What an attempt reports: how long its run took to begin, and then to stop. */
interface Timer {
  begins<T>(begun: Promise<T>): Promise<T>
  stops(stopped: Promise<unknown>): Promise<void>
}

/**
 * Allows three attempts, because a busy machine delays some of them; a defect delays all three. The request that stops a run goes
 * the same way as the one that began it, so where the machine is so slow that beginning took longer than the limit, stopping may
 * take as long.
 */
async function bestOfThree(attempt: (timer: Timer) => Promise<void>, limitMs = WITHIN_MS): Promise<void> {
  const late: string[] = []
  while (late.length < 3) {
    let begunMs = 0
    let stoppedMs = Number.POSITIVE_INFINITY
    await attempt({
      async begins(begun) {
        const startedMs = performance.now()
        const value = await begun
        begunMs = performance.now() - startedMs
        return value
      },
      async stops(stopped) {
        const startedMs = performance.now()
        await stopped
        stoppedMs = performance.now() - startedMs
      },
    })
    if (stoppedMs <= Math.max(limitMs, begunMs)) return
    late.push(`${Math.round(stoppedMs)} ms after ${Math.round(begunMs)} ms to begin`)
  }
  expect.fail(`stopped later than ${limitMs} ms in each of three attempts: ${late.join(', ')}`)
}

function newestRun({ seen }: Trial): SeenRun | undefined {
  return seen.runs.at(-1)
}

async function stopped({ seen, dialect }: Trial, run: SeenRun | undefined): Promise<unknown> {
  const isAsked = ({ stops }: typeof seen) =>
    !dialect.hasStopCall ||
    // FastGPT identifies a run by its chat, and the run may already have ended with its connection.
    stops.some(({ runId, body }) => runId === run?.id || body.chatId === run?.conversationId)
  return seen.waitFor((now) => run?.state !== 'running' && isAsked(now))
}
