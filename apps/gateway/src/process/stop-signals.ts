import cluster from 'node:cluster'
import { closeSync, constants, openSync } from 'node:fs'

/** A second signal within this time is the first one, which arrived in two ways. */
const SAME_SIGNAL_MS = 500

/** What a process does at a signal. */
export interface OnSignal {
  /** SIGTERM or SIGINT has come, or the terminal was closed. The second one asks for haste. */
  stop(signal: NodeJS.Signals, isSecond: boolean): void
  /** SIGHUP has come to a process without a terminal. */
  reload(): void
}

/**
 * Watches the signals that stop or reload a process. A terminal and pnpm send a signal to the process and to its launcher, which
 * passes it on: what follows within half a second is the same signal again and is not reported. The end of npx counts as SIGTERM
 * where no signal has come. A worker ignores SIGHUP, which its primary handles for all of them.
 *
 * @param isUnderNpx whether npx has started the gateway
 * @returns a function that stops listening
 */
export function watchStopSignals(isUnderNpx: boolean, on: OnSignal): () => void {
  let firstAt: number | undefined
  const stop = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt !== undefined && now - firstAt < SAME_SIGNAL_MS) return
    on.stop(signal, firstAt !== undefined)
    firstAt ??= now
  }
  // Asked now, because a terminal that was closed is there no longer when its signal comes.
  const withTerminal = hasTerminal()
  const hangUp = (signal: NodeJS.Signals) => {
    if (cluster.isWorker) return
    if (withTerminal) stop(signal)
    else on.reload()
  }
  for (const name of STOP_SIGNALS) process.on(name, stop)
  process.on('SIGHUP', hangUp)
  const stopWatching =
    isUnderNpx && cluster.isPrimary
      ? watchNpx(() => {
          if (firstAt === undefined) stop('SIGTERM')
        })
      : undefined
  return () => {
    stopWatching?.()
    for (const name of STOP_SIGNALS) process.off(name, stop)
    process.off('SIGHUP', hangUp)
  }
}

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Whether the process has a controlling terminal, which sends SIGHUP when it is closed. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY))
    return true
  } catch {
    return false
  }
}

const CHECK_MS = 250

/**
 * Calls `onEnd` when npx, which has started this process, has ended. At SIGTERM npx ends without passing the signal on to the
 * program that it runs, so a gateway would stay behind when `npx trunkline` is stopped.
 *
 * @returns a function that stops watching
 */
function watchNpx(onEnd: () => void): () => void {
  const npx = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === npx) return
    clearInterval(timer)
    onEnd()
  }, CHECK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
