/** Lets at most so many tasks run at a time; the others wait in the order they came. */
export function createTurnstile(most: number): <Result>(task: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  let running = 0

  return async (task) => {
    if (running < most) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await task()
    } finally {
      // The place goes to the next in line, so that nobody who comes just now overtakes it.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
