import { pipeline } from 'node:stream'
import { type Options, stringify } from 'csv-stringify'
import type { FastifyReply } from 'fastify'
import { createEventLoopYield } from '#core/base/async/event-loop-yield.ts'

export type Cell = string | number | boolean | Date | null

/** RFC 4180. Formulas are escaped because spreadsheets evaluate them and callers choose some of these texts. */
export const CSV_FORMAT: Options = {
  record_delimiter: 'windows',
  escape_formulas: true,
  // Without this, a line end in a cell is quoted only where it is CR LF.
  quote_record_delimiter: true,
  cast: {
    date: (date) => date.toISOString(),
    // The library writes 1 and an empty cell.
    boolean: String,
    // Some spreadsheets skip a line feed before a formula; the library does not escape that case.
    string: (text) => (text.startsWith('\n') ? `'${text}` : text),
  },
}

/** Streams rows as CSV. Rows are read only as fast as the client reads, so memory stays bounded. */
export function sendCsv(
  reply: FastifyReply,
  name: string,
  header: readonly string[],
  rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>,
): FastifyReply {
  reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${name}.csv"`)
  const text = pipeline(withPauses(header, rows), stringify(CSV_FORMAT), () => {
    // A failure ends the response, and the end of the request is logged.
  })
  return reply.send(text)
}

async function* withPauses(
  header: readonly string[],
  rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>,
): AsyncGenerator<readonly Cell[]> {
  const yieldToEventLoop = createEventLoopYield()
  yield header
  for await (const row of rows) {
    yield row
    await yieldToEventLoop()
  }
}
