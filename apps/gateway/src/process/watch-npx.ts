const CHECK_MS = 250

/**
 * Calls `onEnd` when npx, which has started this process, has ended. At SIGTERM npx ends without passing the signal on to the
 * program that it runs, so a gateway would stay behind when `npx trunkline` is stopped.
 *
 * @returns a function that stops watching
 */
export function watchNpx(onEnd: () => void): () => void {
  const npx = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === npx) return
    clearInterval(timer)
    onEnd()
  }, CHECK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
