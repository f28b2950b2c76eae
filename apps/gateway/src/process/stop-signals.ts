import cluster from 'node:cluster'

/** A second signal within this time is the first one, which arrived in two ways. */
const SAME_SIGNAL_MS = 500

/**
 * Calls `onSignal` at SIGTERM, SIGINT and SIGHUP, and says whether it is a second one, with which an operator asks for haste. A
 * terminal and pnpm send a signal to the process and to its launcher, which passes it on: what follows within half a second
 * is the same signal again and is not reported. The end of npx counts as SIGTERM where no signal has come.
 *
 * @param isUnderNpx whether npx has started the gateway
 * @returns a function that stops listening
 */
export function watchStopSignals(
  isUnderNpx: boolean,
  onSignal: (signal: NodeJS.Signals, isSecond: boolean) => void,
): () => void {
  let firstAt: number | undefined
  const listener = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt !== undefined && now - firstAt < SAME_SIGNAL_MS) return
    onSignal(signal, firstAt !== undefined)
    firstAt ??= now
  }
  for (const name of SIGNALS) process.on(name, listener)
  const stopWatching =
    isUnderNpx && cluster.isPrimary
      ? watchNpx(() => {
          if (firstAt === undefined) listener('SIGTERM')
        })
      : undefined
  return () => {
    stopWatching?.()
    for (const name of SIGNALS) process.off(name, listener)
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

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
