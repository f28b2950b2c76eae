import { Stream } from 'openai/core/streaming'
import { readChatStream } from '../../packages/sdk/src/chat.ts'
import { printTable } from '../figures/print-table.ts'
import { median } from '../figures/quantile.ts'
import { range } from '../figures/rows.ts'
import type { Stage } from '../stage.ts'

const AIM = 2

interface Way {
  readonly name: string
  /** Size of the pieces in which the body arrives; undefined has one event in each. */
  readonly pieceBytes: number | undefined
}

const WAYS: readonly Way[] = [
  { name: 'pieces of 64 KiB', pieceBytes: 64 * 1024 },
  { name: 'pieces of 4 KiB', pieceBytes: 4 * 1024 },
  { name: 'one chunk a piece', pieceBytes: undefined },
]

const encoder = new TextEncoder()
const DONE = encoder.encode('data: [DONE]\n\n')

interface Extent {
  readonly totalBytes: number
  readonly rounds: number
}

/**
 * The throughput of the SDK's stream reader, compared with that of the `openai` package's parser on the same chunks in one
 * run, alternately.
 */
export async function bench({ isQuick }: Stage): Promise<void> {
  const extent = isQuick ? { totalBytes: 10_000_000, rounds: 3 } : { totalBytes: 100_000_000, rounds: 7 }
  const rows: string[][] = []
  for (const way of WAYS) rows.push(await compare(way, extent))
  printTable(`${megabytes(extent)} MB of chunks | openai | SDK | compared (least–most) | aim | reached`, rows)
}

async function compare({ name, pieceBytes }: Way, extent: Extent): Promise<string[]> {
  const { pieces, chunks } = piecesOf(pieceBytes, extent.totalBytes)
  const speed = async (stream: AsyncIterable<unknown>) =>
    megabytes(extent) / (await secondsToRead(chunks, stream))
  const theirs: number[] = []
  const ours: number[] = []
  for (let round = 0; round <= extent.rounds; round += 1) {
    const openai = await speed(Stream.fromSSEResponse(new Response(bodyOf(pieces)), new AbortController()))
    const sdk = await speed(readChatStream(bodyOf(pieces)))
    // The first round warms both up.
    if (round === 0) continue
    theirs.push(openai)
    ours.push(sdk)
  }
  const ratios = ours.map((own, round) => own / (theirs[round] ?? own))
  const ratio = median(ratios)
  return [
    name,
    `${median(theirs).toFixed(1)} MB/s`,
    `${median(ours).toFixed(1)} MB/s`,
    `× ${ratio.toFixed(2)} (${range(ratios)})`,
    `≥ × ${AIM}`,
    ratio >= AIM ? 'yes' : 'no',
  ]
}

function megabytes({ totalBytes }: Extent): number {
  return totalBytes / 1e6
}

async function secondsToRead(expected: number, stream: AsyncIterable<unknown>): Promise<number> {
  let chunks = 0
  const start = performance.now()
  for await (const _chunk of stream) chunks += 1
  const seconds = (performance.now() - start) / 1000
  if (chunks !== expected) throw new Error(`${chunks} chunks were read, not ${expected}`)
  return seconds
}

/** Chunks as a gateway sends them, of a few words in several languages. */
function piecesOf(
  pieceBytes: number | undefined,
  totalBytes: number,
): { pieces: Uint8Array[]; chunks: number } {
  const words = [
    'Hello',
    ' and welcome',
    ' to the',
    ' gateway',
    '.\n',
    ' 你好',
    '，世界',
    ' café',
    ' 🎉',
    ' "quoted"',
  ]
  const events = words.map((content) => {
    const choice = { index: 0, delta: { role: 'assistant', content }, finish_reason: null }
    const chunk = {
      id: 'chat-0001',
      object: 'chat.completion.chunk',
      created: 1_795_161_600,
      model: 'fastgpt',
    }
    return encoder.encode(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`)
  })
  const all: Uint8Array[] = []
  for (let bytes = 0; bytes < totalBytes; bytes += all.at(-1)?.length ?? 0) {
    all.push(events[all.length % events.length] ?? DONE)
  }
  const chunks = all.length
  all.push(DONE)
  if (pieceBytes === undefined) return { pieces: all, chunks }
  const whole = Buffer.concat(all)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < whole.length; at += pieceBytes) pieces.push(whole.subarray(at, at + pieceBytes))
  return { pieces, chunks }
}

function bodyOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let next = 0
  return new ReadableStream({
    pull(controller) {
      const piece = pieces[next]
      next += 1
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
  })
}
