import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { createPauses } from '#core/pauses.ts'

export type Cell = string | number | Date | null

/** Sends rows as RFC 4180 text while they come. */
export function sendCsv(
  reply: FastifyReply,
  name: string,
  header: readonly string[],
  rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>,
): FastifyReply {
  reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .header('cache-control', 'no-store')
  return reply.send(Readable.from(lines(header, rows)))
}

async function* lines(
  header: readonly string[],
  rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>,
): AsyncGenerator<string> {
  const pause = createPauses()
  yield csvLine(header)
  for await (const row of rows) {
    yield csvLine(row)
    await pause()
  }
}

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  if (cell instanceof Date) return cell.toISOString()
  // Spreadsheets run what begins like a formula, and callers choose some of these texts.
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
