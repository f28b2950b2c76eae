import { pipeline } from 'node:stream'
import { type Options, stringify } from 'csv-stringify'
import type { FastifyReply } from 'fastify'
import { createEventLoopYield } from '#core/base/async/event-loop-yield.ts'

export type Cell = string | number | boolean | Date | null

/** RFC 4180. Formulas are escaped because spreadsheets evaluate them and callers choose some of these texts. */
export const CSV_FORMAT: Options = {
  record_delimiter: 'windows',
  // Without this, a line end in a cell is quoted only where it is CR LF.
  quote_record_delimiter: true,
  cast: {
    date: (date) => date.toISOString(),
    // The library writes 1 and an empty cell.
    boolean: String,
    // The library's own escaping looks at the first character alone.
    string: (text) => text.replace(FORMULA, "'$&").replace(INNER_FORMULA, "$1'$2"),
  },
}

/**
 * A cell with a formula, behind what spreadsheets skip before one or do not show. The signs stand also in forms that are normalized to
 * them.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point};]*(?=[=+\-@＝＋－＠﹦﹢﹣﹫])/u
/**
 * A formula within a cell, at a place where a cell begins for spreadsheets that separate by semicolons, as they do in much of Europe.
 * For them a quotation mark behind a comma is an ordinary character, so that line breaks end a record also between quotation marks.
 */
const INNER_FORMULA =
  /(?<=[;\r\n])([[\s\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]--[\r\n]]*)([=+\-@＝＋－＠﹦﹢﹣﹫])/gv

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
