import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the user and system time of all threads so far. It reads `schedstat`, which counts nanoseconds, because
 * `/proc/<pid>/stat` counts hundredths of a second, which is too coarse for some hundred milliseconds.
 */
export function cpuUs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const spentNs = threads.map((thread) => schedulingOf(pid, thread).spentNs)
  return spentNs.reduce((sum, ns) => sum + ns, 0) / 1000
}

/** Returns how long the main thread has waited for a core so far, because others had it. */
export function waitedUs(pid: number): number {
  return schedulingOf(pid, String(pid)).waitedNs / 1000
}

function schedulingOf(pid: number, thread: string): { spentNs: number; waitedNs: number } {
  const [spentNs, waitedNs] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')
  return { spentNs: Number(spentNs), waitedNs: Number(waitedNs) }
}

export function residentKib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
}
