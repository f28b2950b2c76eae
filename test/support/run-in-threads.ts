import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'

/** A program of the current directory, and its environment. */
export interface ProgramToRun {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
}

/** What a program has printed, and why it has failed, or nothing. */
export interface ProgramRun {
  readonly name: string
  readonly stdout: string
  readonly stderr: string
  readonly failure: string
}

async function runProgram({ name, env }: ProgramToRun): Promise<ProgramRun> {
  const worker = new Worker(resolve(name), { env, stdout: true, stderr: true })
  let failure = ''
  worker.on('error', (error) => {
    failure = String(error)
  })
  const [stdout, stderr] = await Promise.all([text(worker.stdout), text(worker.stderr), once(worker, 'exit')])
  return { name, stdout, stderr, failure }
}

// Runs the programs on its standard input one after the other, each in a thread of its own, which costs a fraction of a process.
if (import.meta.main) {
  const runs: ProgramRun[] = []
  for (const program of JSON.parse(await text(process.stdin)) as ProgramToRun[])
    runs.push(await runProgram(program))
  console.log(JSON.stringify(runs))
}
