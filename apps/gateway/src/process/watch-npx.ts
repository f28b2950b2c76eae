const CHECK_MS = 250

/**
 * Calls `onEnd` when npx, which has started this process, has ended. It ends at SIGTERM and tells the program that it runs nothing,
 * so whoever stopped `npx trunkline` would leave a gateway behind.
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
