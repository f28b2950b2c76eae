import { Stream } from 'openai/core/streaming'
import { readChatStream } from '../packages/sdk/src/chat.ts'
import { quantile } from './quantile.ts'

/**
 * `pnpm bench:sdk` compares the throughput of the SDK's stream reader with that of the `openai` package's parser, on the same
 * chunks in one run, alternately. `--quick` reads a tenth.
 */
const isQuick = process.argv.includes('--quick')
const TOTAL_BYTES = isQuick ? 10_000_000 : 100_000_000
const ROUNDS = isQuick ? 3 : 7
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

console.log(`| ${TOTAL_BYTES / 1e6} MB of chunks | openai | SDK | compared (least–most) | aim | reached |`)
console.log('| --- | ---: | ---: | ---: | --- | --- |')
for (const way of WAYS) await compare(way)

async function compare({ name, pieceBytes }: Way): Promise<void> {
  const { pieces, chunks } = piecesOf(pieceBytes)
  const theirs: number[] = []
  const ours: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const openai = await measure(
      chunks,
      Stream.fromSSEResponse(new Response(bodyOf(pieces)), new AbortController()),
    )
    const sdk = await measure(chunks, readChatStream(bodyOf(pieces)))
    // The first round warms both up.
    if (round === 0) continue
    theirs.push(openai)
    ours.push(sdk)
  }
  const ratios = ours.map((own, round) => own / (theirs[round] ?? own)).sort((a, b) => a - b)
  const ratio = quantile(ratios, 0.5)
  const cells = [
    name,
    `${quantile(
      theirs.sort((a, b) => a - b),
      0.5,
    ).toFixed(1)} MB/s`,
    `${quantile(
      ours.sort((a, b) => a - b),
      0.5,
    ).toFixed(1)} MB/s`,
    `× ${ratio.toFixed(2)} (${ratios.at(0)?.toFixed(2)}–${ratios.at(-1)?.toFixed(2)})`,
    `≥ × ${AIM}`,
    ratio >= AIM ? 'yes' : 'no',
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

/** Reads a stream to its end and returns the megabytes a second. */
async function measure(expected: number, stream: AsyncIterable<unknown>): Promise<number> {
  let chunks = 0
  const start = performance.now()
  for await (const _chunk of stream) chunks += 1
  const seconds = (performance.now() - start) / 1000
  if (chunks !== expected) throw new Error(`${chunks} chunks were read, not ${expected}`)
  return TOTAL_BYTES / 1e6 / seconds
}

/** Chunks as a gateway sends them, of a few words in several languages, up to `TOTAL_BYTES`. */
function piecesOf(pieceBytes: number | undefined): { pieces: Uint8Array[]; chunks: number } {
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
  for (let bytes = 0; bytes < TOTAL_BYTES; bytes += all.at(-1)?.length ?? 0) {
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
