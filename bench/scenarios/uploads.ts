import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { printTable } from '../figures/print-table.ts'
import { residentKib } from '../figures/process-usage.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { GatewayTarget } from '../servers/gateway.ts'
import type { Stage } from '../stage.ts'

const AT_ONCE = 10
const MIB = 1024 * 1024
const SAMPLE_EVERY_MS = 50
const PLENTY_BYTES = 1e15
const AIMS_MIB = { disk: 40, s3: 15 * AT_ONCE }

/**
 * How much memory ten uploads at once take in the gateway: of 1 GiB to the local disk, and of 256 MiB to an S3 server, if
 * `TEST_S3_*` name one.
 */
export async function bench(stage: Stage): Promise<void> {
  const scale = stage.isQuick ? 0.1 : 1
  const s3 = s3Settings(process.env)
  const rows = [await measure(stage, 'disk', 1024 * MIB * scale, {})]
  if (s3 !== undefined) rows.push(await measure(stage, 's3', 256 * MIB * scale, s3))
  printTable('uploads | idle | most | above idle | an upload | aim | left after deletion', rows)
}

async function measure(
  stage: Stage,
  storage: keyof typeof AIMS_MIB,
  bytes: number,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  stage.atEnd(leaveServerCore())
  const settings = { uploads: { maxBytes: 2048 * MIB, bytesPerOwnerMax: PLENTY_BYTES } }
  const { url } = await stage.database()
  const gateway = await stage.gateway(url, 'http://127.0.0.1:9', { settings, env })
  // What the first upload loads and compiles stays in memory, whatever the number of uploads.
  await upload(gateway, MIB)
  await pause(2_000)
  const idleKib = residentKib(gateway.pid)
  const mostKib = await mostResidentKib(gateway.pid, uploadAtOnce(gateway, bytes))
  const aboveMib = (mostKib - idleKib) / 1024
  const left = (await uploadsOf(gateway)).length - 1
  await stage.clear()
  return [
    `${AT_ONCE} × ${bytes / MIB} MiB, ${storage}`,
    ...[idleKib / 1024, mostKib / 1024, aboveMib, aboveMib / AT_ONCE, AIMS_MIB[storage]].map(
      (mib) => `${mib.toFixed(1)} MiB`,
    ),
    `${left} files`,
  ]
}

/** Uploads files and deletes them when all of them have been stored. */
async function uploadAtOnce(gateway: GatewayTarget, bytes: number): Promise<void> {
  const ids = await Promise.all(Array.from({ length: AT_ONCE }, () => upload(gateway, bytes)))
  for (const id of ids) await call(gateway, 'DELETE', `/api/v1/uploads/${id}`)
}

const BOUNDARY = 'boundary-of-the-bench'
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="created_by"\r\n\r\nbench\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="film.mp4"\r\nContent-Type: video/mp4\r\n\r\n`
const TAIL = `\r\n--${BOUNDARY}--\r\n`
/** The beginning of a real film, by which the gateway finds the type. */
const FILM = readFileSync(
  new URL('../../apps/gateway/src/core/uploads/content/fixtures/ffmpeg.mp4', import.meta.url),
)
const PIECE = Buffer.alloc(64 * 1024, 'film')

/** Sends the file as fast as the gateway reads it; returns its id. */
async function upload({ origin, headers }: GatewayTarget, bytes: number): Promise<string> {
  const { authorization = '' } = headers
  const sent = request(`${origin}/api/v1/upload`, {
    method: 'POST',
    agent: false,
    headers: { authorization, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  })
  const reply = replyOf(sent)
  sent.write(HEAD)
  sent.write(FILM)
  for (let rest = bytes - FILM.length; rest > 0; rest -= PIECE.length) {
    if (!sent.write(PIECE.subarray(0, rest))) await Promise.race([once(sent, 'drain'), reply])
  }
  sent.end(TAIL)
  return (await reply).data.id
}

async function replyOf(sent: ClientRequest): Promise<{ data: { id: string } }> {
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  if (response.statusCode !== 200) throw new Error(`an upload was answered ${response.statusCode}: ${text}`)
  return JSON.parse(text)
}

async function uploadsOf(gateway: GatewayTarget): Promise<readonly unknown[]> {
  const reply = (await call(gateway, 'GET', '/api/v1/uploads')) as { data: { items: unknown[] } }
  return reply.data.items
}

async function call({ origin, headers }: GatewayTarget, method: string, path: string): Promise<unknown> {
  const { authorization = '' } = headers
  const response = await fetch(`${origin}${path}`, { method, headers: { authorization } })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

async function mostResidentKib(pid: number, work: Promise<void>): Promise<number> {
  let most = 0
  let isDone = false
  const watch = async () => {
    while (!isDone) {
      most = Math.max(most, residentKib(pid))
      await pause(SAMPLE_EVERY_MS)
    }
  }
  await Promise.all([
    work.finally(() => {
      isDone = true
    }),
    watch(),
  ])
  return most
}

function s3Settings(env: NodeJS.ProcessEnv): Record<string, string> | undefined {
  const { TEST_S3_ENDPOINT: endpoint } = env
  if (endpoint === undefined) return undefined
  return {
    S3_ENDPOINT: endpoint,
    S3_REGION: env.TEST_S3_REGION ?? '',
    S3_BUCKET: env.TEST_S3_BUCKET ?? '',
    AWS_ACCESS_KEY_ID: env.TEST_S3_ACCESS_KEY_ID ?? '',
    AWS_SECRET_ACCESS_KEY: env.TEST_S3_SECRET_ACCESS_KEY ?? '',
  }
}
