import { pathToFileURL } from 'node:url'

/** The environment in which a program of Node behaves as on a machine whose clock is so far ahead. */
export function clockAhead(ms: number): Record<string, string> {
  const module = pathToFileURL(`${import.meta.dirname}/../fixtures/clock-ahead.ts`).href
  return { NODE_OPTIONS: `--import ${module}`, CLOCK_AHEAD_MS: String(ms) }
}

/** The same clock for what a test starts as for the test itself, if `pnpm test:flakes` has changed that. */
export const CLOCK_OF_TESTS: Readonly<Record<string, string>> =
  process.env.CLOCK_AHEAD_MS === undefined ? {} : clockAhead(Number(process.env.CLOCK_AHEAD_MS))
