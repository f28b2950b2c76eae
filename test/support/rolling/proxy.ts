import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'

const DEPLOY = join(import.meta.dirname, '../../../deploy')
/** Debian keeps servers out of the path of those who are not root. */
const PATHS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin']

/**
 * The recipes of `deploy`, and nginx with nothing set for its upstream but where the gateways are. It has connections enough,
 * of which each stream takes two, and a header says which gateway answered.
 */
export const PROXY_KINDS = ['nginx', 'nginx at its defaults', 'haproxy'] as const
export type ProxyKind = (typeof PROXY_KINDS)[number]

/** Where a gateway is reached. */
export interface Backend {
  readonly port: number
  readonly opsPort: number
}

export interface ProxyServer {
  readonly kind: ProxyKind
  readonly url: string
  /**
   * Resolves when it sends requests to this gateway. Only nginx at its defaults keeps away from one that listens: for ten
   * seconds after a connection was refused, in which no other gateway may refuse one.
   */
  sendsTo(backend: Backend): Promise<void>
  stop(): Promise<void>
}

/**
 * Whether nginx and HAProxy are installed.
 *
 * @throws if one is missing and REQUIRE_SERVICES is set, as it is in continuous integration
 */
export function proxiesAreInstalled(env: NodeJS.ProcessEnv = process.env): boolean {
  const missing = ['nginx', 'haproxy'].filter((name) => pathOf(name) === undefined)
  if (missing.length === 0) return true
  if (env.REQUIRE_SERVICES) throw new Error(`${missing.join(' and ')}: required here`)
  console.warn(`${missing.join(' and ')}: not installed, so tests that need it are skipped`)
  return false
}

/** Starts a real proxy in front of two gateways. */
export async function startProxy(
  kind: ProxyKind,
  backends: readonly [Backend, Backend],
): Promise<ProxyServer> {
  const home = await mkdtemp(join(tmpdir(), 'trunkline-proxy-'))
  const port = await freePort()
  const child =
    kind === 'haproxy' ? await haproxy(home, port, backends) : await nginx(home, port, backends, kind)
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    process.off('exit', killWithUs)
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    await rm(home, { recursive: true })
  }
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  try {
    await until(`${kind} reaches a gateway`, async () => {
      if (child.exitCode !== null) throw new Error(`${kind} ended with ${child.exitCode}: ${output}`)
      return (await fetch(`${url}/api/v1/agents`).catch(() => undefined))?.status === 200
    })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    kind,
    url,
    async sendsTo({ port }) {
      if (kind !== 'nginx at its defaults') return
      await until(`${kind} sends to port ${port}`, async () => {
        const response = await fetch(`${url}/healthz`)
        return response.headers.get('x-upstream')?.endsWith(`:${port}`)
      })
    },
    stop,
  }
}

async function nginx(
  home: string,
  port: number,
  [a, b]: readonly [Backend, Backend],
  kind: ProxyKind,
): Promise<ChildProcess> {
  const filesPort = await freePort()
  const text =
    kind === 'nginx'
      ? replaced(await readFile(join(DEPLOY, 'nginx.conf'), 'utf8'), {
          'gateway-a:8080': `127.0.0.1:${a.port}`,
          'gateway-b:8080': `127.0.0.1:${b.port}`,
          'listen 8080': `listen 127.0.0.1:${port}`,
          'listen 8081': `listen 127.0.0.1:${filesPort}`,
          's3:9000': '127.0.0.1:9',
        })
      : `events { worker_connections 8192; }
         http {
           upstream trunkline { server 127.0.0.1:${a.port}; server 127.0.0.1:${b.port}; }
           server { listen 127.0.0.1:${port}; location / { proxy_pass http://trunkline; } add_header X-Upstream $upstream_addr always; }
         }`
  // The folders that nginx was built with belong to root.
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const ownFolders = folders.map((name) => `${name}_temp_path ${home}/${name};`).join('\n')
  const path = join(home, 'nginx.conf')
  await writeFile(path, replaced(text, { 'http {': `http {\naccess_log off;\n${ownFolders}` }))
  // A root that gives up its rights must still reach them.
  await mkdir(join(home, 'proxy'), { mode: 0o777 })
  const rest = `daemon off; pid ${home}/pid; error_log ${home}/error.log; ${process.getuid?.() === 0 ? 'user root;' : ''}`
  return spawn(pathOf('nginx') ?? 'nginx', [
    '-p',
    home,
    '-e',
    join(home, 'error.log'),
    '-c',
    path,
    '-g',
    rest,
  ])
}

async function haproxy(
  home: string,
  port: number,
  [a, b]: readonly [Backend, Backend],
): Promise<ChildProcess> {
  const path = join(home, 'haproxy.cfg')
  const text = replaced(await readFile(join(DEPLOY, 'haproxy.cfg'), 'utf8'), {
    'gateway-a:8080': `127.0.0.1:${a.port} port ${a.opsPort}`,
    'gateway-b:8080': `127.0.0.1:${b.port} port ${b.opsPort}`,
    'bind :8080': `bind 127.0.0.1:${port}`,
    'bind :8081': `bind 127.0.0.1:${await freePort()}`,
    's3 s3:9000': 's3 127.0.0.1:9',
  })
  await writeFile(path, text)
  return spawn(pathOf('haproxy') ?? 'haproxy', ['-db', '-f', path])
}

/** Each text must be there, or a recipe has changed and would be tried with other values than those of the test. */
function replaced(text: string, values: Readonly<Record<string, string>>): string {
  let result = text
  for (const [from, to] of Object.entries(values)) {
    if (!result.includes(from)) throw new Error(`the configuration has no "${from}"`)
    result = result.replaceAll(from, to)
  }
  return result
}

function pathOf(program: string): string | undefined {
  return PATHS.map((folder) => join(folder, program)).find((path) => existsSync(path))
}
