import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { startSandbox } from '@trunkline/sandbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../packages/trunkline/package.json' with { type: 'json' }
import { apiOf } from '../support/api.ts'
import { type Container, runContainer, startContainer } from '../support/container.ts'
import { type ContainerNetwork, openContainerNetwork } from '../support/container-network.ts'
import { type BuiltImage, buildImage, IMAGE_TOOLS } from '../support/image.ts'
import { areInstalled } from '../support/installed-tools.ts'
import { probeGateway } from '../support/probe-gateway.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

// A process, because an image is what a container runs, with its own files, user and signals.

const run = promisify(execFile)
const postgres = process.env.E2E_DATABASE_URL

/** What the image may add to the one that it begins with. */
const OWN_BYTES_MAX = 65e6
const ADMIN = { username: 'admin', password: 'correct horse battery' }
const REVISION = 'a-revision'

describe.skipIf(!postgres || process.getuid?.() !== 0 || !areInstalled(IMAGE_TOOLS))('the image', () => {
  const undo: (() => Promise<unknown>)[] = []
  let image: BuiltImage
  let network: ContainerNetwork
  /** What every container of these tests is started with. */
  let options: Parameters<typeof startContainer>[0]
  let container: Container | undefined

  beforeAll(async () => {
    if (!postgres) return
    image = await buildImage({ VERSION: manifest.version, REVISION })
    undo.push(image.remove)
    network = await openContainerNetwork()
    undo.push(network.remove)
    const database = await createScratchDatabase(postgres, { template: undefined })
    undo.push(database.drop)
    // The server listens on the loopback interface, which a container cannot reach.
    const server = await startTcpProxy(database.url, network.hostAddress)
    undo.push(server.close)
    const sandbox = await startSandbox({ host: network.hostAddress, delayMs: 0 })
    undo.push(sandbox.close)
    const home = await mkdtemp(join(tmpdir(), 'trunkline-image-test-'))
    undo.push(() => rm(home, { recursive: true, force: true }))
    const configuration = join(home, 'etc')
    await mkdir(configuration)
    const agents = Object.entries(sandbox.agents).map(([platform, { baseUrl, apiKey, options }]) => [
      platform,
      { platform, baseUrl, apiKey, ...options },
    ])
    const config = {
      agents: Object.fromEntries(agents),
      graphql: { introspection: true, graphiql: true },
      // No load balancer needs time here.
      drain: { acceptMs: 0 },
    }
    await writeFile(join(configuration, 'gateway.config.yaml'), JSON.stringify(config))
    options = {
      image,
      network: network.path,
      dataDir: join(home, 'data'),
      folders: { '/etc/trunkline': configuration },
      env: {
        DATABASE_URL: server.url,
        ADMIN_PASSWORD: ADMIN.password,
        PUBLIC_URL: `http://${network.address}:8080`,
      },
    }
  }, 300_000)
  afterAll(async () => {
    await container?.remove()
    for (const step of undo.splice(0).reverse()) await step()
  })

  const url = () => `http://${network.address}:8080`
  const api = () => apiOf({ url: url(), admin: ADMIN })
  const inImage = (path: string) => join(image.root, path)

  test('says what it is, who it runs as, and how its health is checked', () => {
    const program = ['node', '/app/node_modules/trunkline/dist/trunkline.js']
    expect(image.settings).toMatchObject({
      User: '65532:65532',
      Entrypoint: program,
      Cmd: ['start'],
      WorkingDir: '/etc/trunkline',
      Volumes: { '/data': {} },
      ExposedPorts: { '8080/tcp': {} },
      Healthcheck: { Test: ['CMD', ...program, 'health'] },
      Labels: {
        'org.opencontainers.image.title': 'Trunkline',
        'org.opencontainers.image.licenses': 'MIT',
        'org.opencontainers.image.version': manifest.version,
        'org.opencontainers.image.revision': REVISION,
      },
    })
    expect(image.settings.Env).toEqual(
      expect.arrayContaining(['NODE_ENV=production', 'HOST=0.0.0.0', 'DATA_DIR=/data']),
    )
    expect(image.settings.Env.join()).not.toMatch(/CERTS|npm_/)
  })

  test('adds little to its base, and lists all of it', async () => {
    const { stdout } = await run('du', ['--bytes', '--summarize', inImage('app')])
    expect(Number.parseInt(stdout, 10)).toBeLessThan(OWN_BYTES_MAX)
    const installed = JSON.parse(await readFile(inImage('app/sbom.cdx.json'), 'utf8'))
    const names = installed.components.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['trunkline', ...Object.keys(manifest.dependencies)]))
    const bundled = await readFile(inImage('app/node_modules/trunkline/dist/sbom.cdx.json'), 'utf8')
    expect(JSON.parse(bundled).components.length).toBeGreaterThan(100)
  })

  test('migrates as a command, which a second time has nothing to do', async () => {
    const migrate = () => runContainer({ ...options, command: ['migrate'] })
    expect(await migrate()).toEqual({ code: 0, output: expect.stringMatching(/^Applied: \d+_baseline/) })
    expect(await migrate()).toEqual({ code: 0, output: expect.stringMatching(/up to date/) })
  })

  test('becomes healthy, and chats', async () => {
    await container?.remove()
    container = await startContainer(options)
    const check = image.settings.Healthcheck.Test.slice(1)
    await until('it is healthy', async () => (await container?.exec(check))?.code === 0)
    const { full_key: key } = await api().createKey(await api().login())
    const reply = await api().chat(key, 'dify', { app_id: '' })
    expect([reply.status, await reply.json()]).toMatchObject([200, { choices: [{ finish_reason: 'stop' }] }])
  })

  test('is one process of Node without rights, which can write to /data and /tmp alone', async () => {
    const report = await container?.exec(['node', '--eval', WRITABLE])
    expect(JSON.parse(report?.output ?? '')).toEqual({
      process: ['node', '65532', '0000000000000000', '1'],
      writable: ['/data', '/tmp'],
    })
  })

  test('serves everything that the sources serve, and finishes its streams when it is told to stop', async () => {
    const { stop } = container ?? expect.fail('it was not started')
    await probeGateway({ url: url(), admin: ADMIN, stop: async () => expect(await stop()).toBe(0) })
  })

  test('has left nothing behind but in /data', async () => {
    const { stdout } = await run('find', [image.root, '-newer', inImage('app/sbom.cdx.json'), '-type', 'f'])
    expect(stdout).toBe('')
    expect((await stat(image.root)).uid).toBe(0)
  })

  test('needs nothing else to be tried: a sandbox, whose database is in /data', async () => {
    await container?.remove()
    const dataDir = `${options.dataDir}-sandbox`
    container = await startContainer({ ...options, dataDir, folders: {}, env: { NODE_ENV: '' } })
    const [, password = ''] = await container.prints(/^Password: +(\S+)/m)
    const sandbox = apiOf({ url: url(), admin: { ...ADMIN, password } })
    const { full_key: key } = await sandbox.createKey(await sandbox.login())
    expect((await sandbox.chat(key, 'openai')).status).toBe(200)
    expect(await container.stop()).toBe(0)
    expect(await readdir(dataDir)).toContain('db')
    expect(container.output).not.toContain('DATA_DIR is open to other accounts')
  })
})

/** A program that prints what process 1 is, and in which folders of the container files can be made. */
const WRITABLE = `
  const { accessSync, constants, readdirSync, readFileSync, statSync } = require('node:fs')
  const { join } = require('node:path')
  const status = readFileSync('/proc/1/status', 'utf8')
  const field = (name) => new RegExp('^' + name + ':\\\\s*(\\\\S+)', 'm').exec(status)[1]
  const writable = []
  const search = (folder) => {
    try {
      accessSync(folder, constants.W_OK)
      writable.push(folder)
      return
    } catch {}
    try {
      const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
      for (const { name } of entries) if (join(folder, name) !== '/proc') search(join(folder, name))
    } catch {}
  }
  search('/')
  const name = readFileSync('/proc/1/cmdline', 'utf8').split('\\0')[0].split('/').at(-1)
  console.log(JSON.stringify({
    process: [name, field('Uid'), field('CapBnd'), field('NoNewPrivs')],
    writable,
  }))
`
