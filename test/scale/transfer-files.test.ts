import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import {
  createScratchBucket,
  type ScratchBucket,
  s3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { apiOf } from '../support/api.ts'
import { launch, prepareGateway, startGateway, type TestGateway, trunkline } from '../support/gateway.ts'
import { query } from '../support/query.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { inBucket, ON_DISK, type UploadRecord, uploadFile } from '../support/uploads.ts'

// A process, because the commands of a transfer are killed and repeated, and gateways serve from both ends of it.

// Every command starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const server = process.env.E2E_DATABASE_URL ?? ''
const s3 = s3TestServer()
const FIXTURES = join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures')
const MAIN = join(import.meta.dirname, '../../apps/gateway/bin/trunkline.js')
const NOTHING = { expired: 0, files: 0, records: 0, unfinished: 0, suspicious: 0 }

/** What a URL of an upload answers. */
interface Served {
  readonly body: Buffer
  readonly type: string | null
  readonly disposition: string | undefined
}

describe.skipIf(server === '' || s3 === undefined)('uploaded files move', () => {
  /** Read again at every command. */
  const env: Record<string, string> = {}
  let home: string
  let gateway: TestGateway
  let key: string
  let bucket: ScratchBucket
  /** What the gateway served before, by the id of the upload. */
  const before = new Map<string, Served>()

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'trunkline-transfer-'))
    useDisk()
    gateway = await startGateway({ env })
    const api = apiOf(gateway)
    ;({ full_key: key } = await api.createKey(await api.login(), { permissions: ['upload'] }))
    const large = Buffer.concat([fixture('ffmpeg.mp4'), Buffer.alloc(12 * 1024 * 1024, 'video')])
    const files: [Uint8Array<ArrayBuffer> | string, string][] = [
      [large, 'film.mp4'],
      [fixture('reportlab.pdf'), 'Größe 报告 "x" 100%.pdf'],
      [fixture('pillow.png'), 'image.png'],
      ['a,b\n1,2\n', 'table.csv'],
      ['<p>Not HTML</p>', 'page.html'],
    ]
    for (const [content, name] of files) {
      const upload = await uploadFile(gateway.url, key, content, name)
      before.set(upload.id, await serve(upload))
    }
  })
  beforeEach(async () => {
    if (s3 === undefined) return
    bucket = await createScratchBucket(s3)
    onTestFinished(() => bucket.drop())
    useDisk()
  })
  afterAll(async () => {
    await gateway?.remove()
    await rm(home, { recursive: true })
  })

  const useDisk = () => Object.assign(env, { DATABASE_URL: '', DATA_DIR: join(home, 'data'), ...ON_DISK })
  const useBucket = () => Object.assign(env, inBucket(bucket))
  const target = (name: string) => join(home, name)
  const fixture = (name: string) => new Uint8Array(readFileSync(join(FIXTURES, name)))

  async function exported(name: string, destination: string): Promise<Record<string, number>> {
    const result = await gateway.trunkline('db', 'export', target(name), '--files', destination, '--json')
    expect(result).toEqual({ code: 0, output: result.output })
    return JSON.parse(result.output)
  }

  /** Imports an export into PostgreSQL, and expects that a gateway there serves the same files and that a sweep finds nothing. */
  async function expectMoved(file: string, storage: Record<string, string>, dataDir?: string): Promise<void> {
    const database = await createScratchDatabase(server, { template: undefined })
    onTestFinished(database.drop)
    for (const args of [['migrate'], ['db', 'import', target(file)]]) {
      expect(await trunkline(args, { env: { DATABASE_URL: database.url } })).toMatchObject({ code: 0 })
    }
    const moved = await prepareGateway({
      databaseUrl: database.url,
      env: { ...storage, ...(dataDir !== undefined && { DATA_DIR: dataDir }) },
    })
    onTestFinished(() => moved.remove())
    // Records and files that are old enough for a sweep.
    await query(database.url, "UPDATE uploads SET created_at = created_at - interval '2 days'")
    await moved.start()
    const { body } = await apiOf(moved).call('GET', '/api/v1/uploads', { token: key })
    const after = new Map<string, Served>()
    for (const upload of body.data.items) after.set(upload.id, await serve(upload))
    expect(after).toEqual(before)
    const sweep = await moved.trunkline('uploads', 'sweep', '--json')
    expect(JSON.parse(sweep.output)).toEqual(NOTHING)
  }

  test('to a folder while the gateway runs, which then is the folder of another gateway', async () => {
    const counts = await exported('running.ndjson', target('other/files'))
    expect(counts).toMatchObject({ uploads: 5, uploaded_files: 5 })
    expect(counts).not.toHaveProperty('missing_files')
    const old = new Date('2026-01-01')
    for (const name of await filesIn(target('other/files'))) await utimes(name, old, old)
    await expectMoved('running.ndjson', ON_DISK, target('other'))
  })

  test('to a bucket while the gateway is stopped, which then is the bucket of another gateway', async () => {
    await gateway.stop()
    onTestFinished(() => gateway.start())
    useBucket()
    expect(await exported('stopped.ndjson', 's3')).toMatchObject({ uploads: 5, uploaded_files: 5 })
    await expectMoved('stopped.ndjson', inBucket(bucket))
  })

  test('from the local disk although S3 is configured and does not answer', async () => {
    useBucket()
    Object.assign(env, { S3_ENDPOINT: 'http://127.0.0.1:1' })
    expect(await exported('beside.ndjson', target('beside'))).toMatchObject({ uploaded_files: 5 })
    await gateway.stop()
    expect(await exported('without.ndjson', target('without'))).toMatchObject({ uploaded_files: 5 })
    expect(await gateway.trunkline('db', 'export', target('rows.ndjson'))).toMatchObject({ code: 0 })
    useDisk()
    await gateway.start()
  })

  test('without those that were deleted in the meantime, and only those that are not there yet', async () => {
    const [first] = [...before.keys()]
    const [{ token = '' } = {}] = await tokensOf(first)
    const path = join(home, 'data/files', token.slice(8, 10), token)
    await cp(path, target('kept'))
    await rm(path)
    expect(await exported('less.ndjson', target('less'))).toMatchObject({
      uploads: 5,
      uploaded_files: 4,
      missing_files: 1,
    })
    const there = await filesIn(target('less'))
    const times = await Promise.all(there.map(async (name) => (await stat(name)).mtimeMs))
    await cp(target('kept'), path)
    expect(await exported('more.ndjson', target('less'))).toMatchObject({ uploaded_files: 5 })
    expect(await filesIn(target('less'))).toHaveLength(5)
    expect(await Promise.all(there.map(async (name) => (await stat(name)).mtimeMs))).toEqual(times)
  })

  /** The tokens of uploads, newest first, from the URLs that the gateway shows. */
  async function tokensOf(id?: string): Promise<{ token: string }[]> {
    const { body } = await apiOf(gateway).call('GET', '/api/v1/uploads', { token: key })
    const uploads: UploadRecord[] = body.data.items
    return uploads
      .filter((upload) => id === undefined || upload.id === id)
      .map(({ url }) => ({ token: url.split('/').at(-2) ?? '' }))
  }

  test('in the next attempt, if the first was killed in the middle', async () => {
    const proxy = await startTcpProxy(s3?.endpoint ?? '')
    onTestFinished(() => proxy.close())
    useBucket()
    const through = { ...env, S3_ENDPOINT: proxy.url, PATH: process.env.PATH ?? '' }
    const { child } = launch(['db', 'export', target('killed.ndjson'), '--files', 's3'], home, through)
    await until('a file or a part of one is there', async () => (await bucket.leftovers()).length > 0)
    proxy.stall()
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    expect(await exported('again.ndjson', 's3')).toMatchObject({ uploaded_files: 5 })
    await expectMoved('again.ndjson', inBucket(bucket))
  })

  describe('not, with one line that says why', () => {
    /** What is wrong with the destination is found before any row is written. */
    async function refusal(destination: string): Promise<string> {
      const file = target('refused.ndjson')
      const { code, output } = await gateway.trunkline('db', 'export', file, '--files', destination)
      expect([code, output.trimEnd().split('\n')]).toEqual([1, [output.trimEnd()]])
      expect(existsSync(file)).toBe(false)
      return output.trimEnd()
    }

    test('to the folder from which they come, or in or around it', async () => {
      const source = join(home, 'data/files')
      for (const folder of [source, join(source, 'backup'), join(home, 'data'), home]) {
        expect(await refusal(folder)).toBe(
          `--files: expected a folder that is neither in nor around ${source}.`,
        )
      }
      expect(await readdir(source)).not.toContain('backup')
    })

    test('to a file', async () => {
      const file = target('file')
      await writeFile(file, '')
      expect(await refusal(file)).toBe(
        `Files cannot be stored in ${file}: its path leads through a file (EEXIST).`,
      )
    })

    // A user of a machine may mount only where the kernel lets it have namespaces of its own.
    const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

    test.skipIf(!canMount)('to a disk that is full, but the rows are', async () => {
      const folder = await mkdtemp(target('full-'))
      const script = 'mount -t tmpfs -o size=1m none "$1" && shift && exec "$@"'
      const command = [process.execPath, MAIN, 'db', 'export', target('full.ndjson'), '--files', folder]
      const { status, stdout, stderr } = spawnSync(
        'unshare',
        ['-rm', 'sh', '-c', script, '', folder, ...command],
        {
          cwd: home,
          env: { ...env, PATH: process.env.PATH },
          encoding: 'utf8',
        },
      )
      expect([status, stdout, stderr]).toEqual([
        1,
        '',
        `Files cannot be stored in ${folder}: the disk is full (ENOSPC).\n`,
      ])
    })

    test('to S3 if there is no bucket, or the wrong secret, or no server', async () => {
      expect(await refusal('s3')).toBe(
        'S3_BUCKET: is not set; it names the bucket to which "--files s3" copies.',
      )
      useBucket()
      Object.assign(env, { AWS_SECRET_ACCESS_KEY: 'wrong' })
      expect(await refusal('s3')).toMatch(
        /^AWS_SECRET_ACCESS_KEY: the secret does not belong to the access key\./,
      )
      useBucket()
      Object.assign(env, { S3_BUCKET: 'no-such-bucket' })
      expect(await refusal('s3')).toMatch(/^S3_BUCKET: there is no bucket no-such-bucket at /)
      Object.assign(env, { S3_ENDPOINT: 'http://127.0.0.1:1' })
      expect(await refusal('s3')).toBe('S3 at 127.0.0.1:1 cannot be reached (ECONNREFUSED).')
    })

    test('if the gateway has none on its disk', async () => {
      await gateway.stop()
      await cp(join(home, 'data/db'), target('in-s3/db'), { recursive: true })
      Object.assign(env, { DATA_DIR: target('in-s3') })
      const folder = target('in-s3/files')
      expect(await refusal(target('nowhere'))).toBe(
        `DATA_DIR: there is no folder ${folder}. If the uploaded files are in S3, they need no copy.`,
      )
      useDisk()
      await gateway.start()
    })
  })
})

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

async function serve({ url }: Pick<UploadRecord, 'url'>): Promise<Served> {
  const response = await fetch(url)
  expect(response.status).toBe(200)
  const { headers } = response
  return {
    body: Buffer.from(await response.arrayBuffer()),
    type: headers.get('content-type'),
    // The name after it is the one that the client sent on disk, and the one in the URL on S3.
    disposition: headers.get('content-disposition')?.split(';')[0],
  }
}
