/**
 * Waits without keeping the process alive. Unlike `setTimeout` of `node:timers/promises`, it follows the fake timers of
 * tests.
 */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
