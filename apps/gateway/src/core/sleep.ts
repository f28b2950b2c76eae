/** Waits without keeping the process alive. Unlike the one of `node:timers/promises`, it follows the fake time of tests. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
