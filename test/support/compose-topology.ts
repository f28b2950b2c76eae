import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import {
  createScratchBucket,
  type S3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import {
  type ComposeFile,
  type ComposeService,
  DEPLOY,
  mountedFile,
  readCompose,
  Substitutes,
} from './compose.ts'
import { freePort } from './free-port.ts'
import { type Program, startProgram } from './program.ts'
import { until } from './until.ts'

/** The connections that a proxy takes from one address here, of which the recipes have more. */
export const CONNECTIONS_PER_ADDRESS = 40

/** The recipes of `deploy`. compose.yaml mounts the one of nginx. */
export const PROXIES = ['nginx', 'haproxy'] as const
const GATEWAYS = ['gateway-a', 'gateway-b'] as const

export interface ProxyAddresses {
  /** Where the gateways are reached. */
  readonly publicUrl: string
  /** Where files are read. */
  readonly filesUrl: string
}

export interface Topology {
  readonly proxies: Readonly<Record<(typeof PROXIES)[number], ProxyAddresses>>
  readonly gateways: readonly Program[]
  readonly redisUrl: string
  readonly databaseUrl: string
  /** The end of `migrate`. */
  readonly migrated: Program
  remove(): Promise<void>
}

interface TopologyOptions {
  /** PostgreSQL, on which it gets a database of its own. */
  readonly postgres: string
  /** The S3 server, on which it gets a bucket of its own. */
  readonly s3: S3TestServer
  /** The values of `.env`. */
  readonly variables: Readonly<Record<string, string>>
  /** Path of the program of the gateway. */
  readonly main: string
}

/**
 * Starts what compose.yaml describes, without containers: each service is a process of this machine with the environment, the
 * command and the mounted files of compose.yaml. Only addresses, and what has another name on the servers that run here already,
 * are replaced.
 */
export async function startTopology({ postgres, s3, variables, main }: TopologyOptions): Promise<Topology> {
  const undo: (() => Promise<unknown>)[] = []
  const remove = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const home = await mkdtemp(join(tmpdir(), 'trunkline-compose-'))
    undo.push(() => rm(home, { recursive: true, force: true }))
    const database = await createScratchDatabase(postgres, { template: undefined })
    undo.push(database.drop)
    const bucket = await createScratchBucket(s3)
    undo.push(bucket.drop)

    const ports = await choosePorts()
    const proxies = { nginx: addressesOf(ports.nginx), haproxy: addressesOf(ports.haproxy) }
    const { publicUrl, filesUrl } = proxies.nginx
    const { accessKeyId, secretAccessKey } = s3.credentials
    const urls = { PUBLIC_URL: publicUrl, FILES_URL: filesUrl }
    const { services } = readCompose({ ...variables, ...urls, S3_SECRET_KEY: secretAccessKey })
    const substitutes = new Substitutes({
      [`trunkline:${variables.POSTGRES_PASSWORD}@postgres:5432/trunkline`]: database.url.split('//')[1] ?? '',
      'redis:6379': at(ports.redis),
      's3:9000': new URL(s3.endpoint).host,
      'trunkline-files': bucket.settings.bucket,
      [services.proxy?.networks?.default.ipv4_address ?? 'an address of the proxy']: '127.0.0.1',
    })
    const place: Place = { home, main, services, substitutes, ports, accessKeyId }

    const redis = startRedis(place)
    undo.push(() => redis.stop())
    await bucket.setPolicyDocument(await mounted(place, 'bucket', '/bucket-policy.json'))
    const migrated = await runGateway(place, 'migrate')
    if ((await migrated.ended) !== 0) throw new Error(`migrate failed: ${migrated.output}`)
    const gateways: Program[] = []
    for (const name of GATEWAYS) {
      const gateway = await runGateway(place, name)
      undo.push(() => gateway.stop())
      gateways.push(gateway)
    }
    for (const name of GATEWAYS) {
      const isHealthy = async () => (await (await runGateway(place, name, ['health'])).ended) === 0
      await until(`${name} is healthy`, isHealthy)
    }
    for (const proxy of [await startNginx(place), await startHaproxy(place)]) undo.push(() => proxy.stop())
    substitutes.requireAllUsed()
    for (const name of PROXIES) await until(`${name} answers`, () => isOk(`${proxies[name].publicUrl}/docs`))
    const redisUrl = `redis://${at(ports.redis)}`
    return { proxies, gateways, redisUrl, databaseUrl: database.url, migrated, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** What the services have in common. */
interface Place {
  readonly home: string
  readonly main: string
  readonly services: ComposeFile['services']
  readonly substitutes: Substitutes
  readonly ports: Ports
  readonly accessKeyId: string
}

type Ports = Awaited<ReturnType<typeof choosePorts>>

async function choosePorts() {
  const gateway = async () => ({ port: await freePort(), opsPort: await freePort() })
  const proxy = async () => ({ http: await freePort(), files: await freePort() })
  return {
    'gateway-a': await gateway(),
    'gateway-b': await gateway(),
    nginx: await proxy(),
    haproxy: await proxy(),
    redis: await freePort(),
  }
}

const at = (port: number) => `127.0.0.1:${port}`

function addressesOf({ http, files }: Ports['nginx']): ProxyAddresses {
  return { publicUrl: `http://${at(http)}`, filesUrl: `http://${at(files)}` }
}

function serviceOf({ services }: Place, name: string): ComposeService {
  const service = services[name]
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`)
  return service
}

/** The content of a file that a service mounts. */
async function mounted(place: Place, name: string, path: string): Promise<string> {
  return place.substitutes.applyTo(await readFile(mountedFile(serviceOf(place, name), path), 'utf8'))
}

function startRedis(place: Place): Program {
  const [command = '', ...args] = serviceOf(place, 'redis').command ?? []
  const own = ['--port', String(place.ports.redis), '--bind', '127.0.0.1']
  return startProgram(command, [...args, ...own], { cwd: place.home })
}

/** Runs a service that has the image of the gateway, or another command in it. */
async function runGateway(place: Place, name: string, command?: readonly string[]): Promise<Program> {
  const service = serviceOf(place, name)
  const cwd = join(place.home, name)
  await mkdir(cwd, { recursive: true })
  const config = await mounted(place, name, '/etc/trunkline/gateway.config.yaml')
  await writeFile(join(cwd, 'gateway.config.yaml'), config)
  const given = Object.entries({ ...(await environmentOfImage()), ...service.environment })
  const here = given.map(([key, value]) => [key, place.substitutes.applyTo(String(value))])
  const isServing = name === 'gateway-a' || name === 'gateway-b'
  const env = {
    ...Object.fromEntries(here),
    HOST: '127.0.0.1',
    DATA_DIR: cwd,
    AWS_ACCESS_KEY_ID: place.accessKeyId,
    ...(isServing && {
      PORT: String(place.ports[name].port),
      OPS_PORT: String(place.ports[name].opsPort),
    }),
  }
  const args = [place.main, ...(command ?? service.command ?? ['start'])]
  return startProgram(process.execPath, args, { cwd, env })
}

/** What the image sets for every command. */
async function environmentOfImage(): Promise<Record<string, string>> {
  const text = await readFile(join(DEPLOY, 'Containerfile'), 'utf8')
  const line = /^ENV (NODE_ENV=.*)$/m.exec(text)?.[1] ?? ''
  return Object.fromEntries(
    [...line.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

async function startNginx(place: Place): Promise<Program> {
  const { ports, home } = place
  const own = new Substitutes({
    'gateway-a:8080': at(ports['gateway-a'].port),
    'gateway-b:8080': at(ports['gateway-b'].port),
    'listen 8080;': `listen ${at(ports.nginx.http)};`,
    'listen 8081;': `listen ${at(ports.nginx.files)};`,
    'limit_conn address 1000;': `limit_conn address ${CONNECTIONS_PER_ADDRESS};`,
  })
  const path = join(home, 'nginx.conf')
  await writeFile(path, own.applyTo(await mounted(place, 'proxy', '/etc/nginx/nginx.conf')))
  own.requireAllUsed()
  const directives = `daemon off; pid ${join(home, 'nginx.pid')};`
  return startProgram('nginx', ['-e', 'stderr', '-g', directives, '-c', path], { cwd: home })
}

/** Takes the place of nginx with the same two addresses. */
async function startHaproxy({ ports, home, substitutes }: Place): Promise<Program> {
  const serverAt = ({ port, opsPort }: Ports['gateway-a']) => `${at(port)} port ${opsPort}`
  const own = new Substitutes({
    'gateway-a:8080': serverAt(ports['gateway-a']),
    'gateway-b:8080': serverAt(ports['gateway-b']),
    'bind :8080': `bind ${at(ports.haproxy.http)}`,
    'bind :8081': `bind ${at(ports.haproxy.files)}`,
    'sc0_conn_cur gt 1000': `sc0_conn_cur gt ${CONNECTIONS_PER_ADDRESS}`,
  })
  const text = await readFile(join(DEPLOY, 'haproxy.cfg'), 'utf8')
  const path = join(home, 'haproxy.cfg')
  await writeFile(path, own.applyTo(substitutes.applyTo(text)))
  own.requireAllUsed()
  return startProgram('haproxy', ['-db', '-f', path], { cwd: home })
}

async function isOk(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => undefined)
  return response?.ok === true
}
