import { type Dispatcher, Pool } from 'undici'
import type { Call } from './workload.ts'

/** A server under test. */
export interface Target {
  readonly pid: number
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Load {
  readonly calls: number
  readonly concurrency: number
}

/** Runs a closed loop, in which each call starts when another has ended. Returns the duration of each call in ms. */
export async function run(target: Target, call: Call, { calls, concurrency }: Load): Promise<number[]> {
  const pool = poolOf(target, concurrency)
  const timesMs: number[] = []
  try {
    await inParallel(calls, concurrency, async () => {
      timesMs.push(await timeOf(pool, target, call))
    })
    return timesMs
  } finally {
    await pool.destroy()
  }
}

/** The same for a time, one call after the other. */
export async function runFor(target: Target, call: Call, ms: number): Promise<number[]> {
  const pool = poolOf(target, 1)
  const timesMs: number[] = []
  const untilMs = performance.now() + ms
  try {
    while (performance.now() < untilMs) timesMs.push(await timeOf(pool, target, call))
    return timesMs
  } finally {
    await pool.destroy()
  }
}

async function inParallel(times: number, concurrency: number, work: () => Promise<void>): Promise<void> {
  let left = times
  const worker = async () => {
    while (left > 0) {
      left -= 1
      await work()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

function timeOf(pool: Pool, target: Target, call: Call): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedNs = process.hrtime.bigint()
    let status = 0
    let last = Buffer.alloc(0)
    dispatch(pool, target, call, {
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData(_controller, chunk: Buffer<ArrayBuffer>) {
        last = chunk
      },
      onResponseEnd() {
        const isWhole = status === 200 && endsWith(last.toString('latin1'), call.ending)
        if (isWhole) resolve(Number(process.hrtime.bigint() - startedNs) / 1e6)
        else reject(new Error(`a call was answered ${status}: ${last}`))
      },
      onResponseError: (_controller, error) => reject(error),
    })
  })
}

function endsWith(text: string, ending: string | RegExp): boolean {
  return typeof ending === 'string' ? text.endsWith(ending) : ending.test(text)
}

function poolOf({ origin }: Target, connections: number): Pool {
  return new Pool(origin, { connections, headersTimeout: 60_000, bodyTimeout: 60_000 })
}

function dispatch(
  pool: Pool,
  { headers }: Target,
  { method, path, body }: Call,
  handler: Dispatcher.DispatchHandler,
): void {
  // undici requires the first two handlers.
  pool.dispatch(method === 'GET' ? { method, path, headers } : { method: 'POST', path, headers, body }, {
    onRequestStart() {},
    onResponseStart() {},
    ...handler,
  })
}
