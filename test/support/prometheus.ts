import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { freePort } from './free-port.ts'
import { areInstalled } from './installed-tools.ts'
import { startProgram } from './program.ts'
import { until } from './until.ts'

/** Where a gateway serves its metrics. */
export interface Target {
  readonly host: string
  /** The label `instance`; by default the host. */
  readonly name?: string
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly state: 'pending' | 'firing'
}

/** A real Prometheus that scrapes every second. Its first scrape comes after some five seconds. */
export interface Prometheus {
  /** @throws if the query is not valid */
  query(expr: string): Promise<readonly Sample[]>
  alerts(): Promise<readonly FiringAlert[]>
  stop(): Promise<void>
}

/** Whether Prometheus and promtool are installed, which tests that need them ask. */
export const hasPrometheus = () => areInstalled(['prometheus', 'promtool'])

/** Starts Prometheus with these targets, and with the rules of a text if there is one. */
export async function startPrometheus(targets: readonly Target[], rules?: string): Promise<Prometheus> {
  const home = await mkdtemp(join(tmpdir(), 'trunkline-prometheus-'))
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: rules === undefined ? [] : ['rules.yaml'],
    scrape_configs: [
      {
        job_name: 'trunkline',
        static_configs: targets.map(({ host, name = host }) => ({
          targets: [host],
          labels: { instance: name },
        })),
      },
    ],
  }
  await writeFile(join(home, 'prometheus.yaml'), stringify(config))
  if (rules !== undefined) await writeFile(join(home, 'rules.yaml'), rules)
  const port = await freePort()
  const program = startProgram(
    'prometheus',
    [
      '--config.file=prometheus.yaml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { cwd: home },
  )
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    const answer = (await response.json()) as { status: string; error?: string; data: unknown }
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined))?.ok
  await until('Prometheus is ready', isReady).catch((cause: unknown) => {
    throw new Error(program.output, { cause })
  })
  return {
    async query(expr) {
      const { result } = (await get(`/api/v1/query?query=${encodeURIComponent(expr)}`)) as {
        result: readonly { metric: Sample['metric']; value: readonly [number, string] }[]
      }
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }))
    },
    async alerts() {
      return ((await get('/api/v1/alerts')) as { alerts: readonly FiringAlert[] }).alerts
    },
    async stop() {
      await program.stop()
      await rm(home, { recursive: true })
    },
  }
}

/** Runs promtool, and returns what it printed and its exit code. */
export function promtool(
  args: readonly string[],
  { cwd, input }: { readonly cwd?: string; readonly input?: string } = {},
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const child = execFile('promtool', args, { ...(cwd !== undefined && { cwd }) }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    )
    child.stdin?.end(input)
  })
}
