import pg from 'pg'

type Parser = (text: string) => unknown

const { DATE, INT8, TIMESTAMP } = pg.types.builtins
const INT8_ARRAY = 1016

/** Parsers by type OID, for the types that raw SQL returns as other values than pg does by default. */
export const ROW_PARSERS: Readonly<Record<number, Parser>> = {
  // A time without a zone is not an instant, and Date would interpret it in the zone of this machine.
  [DATE]: asText,
  [TIMESTAMP]: asText,
  // All counts stay below 2^53.
  [INT8]: Number,
  [INT8_ARRAY]: (text) => JSON.parse(`[${text.slice(1, -1).replaceAll('NULL', 'null')}]`),
}

function asText(text: string): string {
  return text
}
