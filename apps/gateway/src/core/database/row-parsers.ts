import pg from 'pg'

type Parser = (text: string) => unknown

const { BYTEA, DATE, INT8, TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins
const INT8_ARRAY = 1016

/** How raw SQL reads the types on which pg and PGlite differ, by the type's OID; the others they read alike. */
export const ROW_PARSERS: Readonly<Record<number, Parser>> = {
  [BYTEA]: pg.types.getTypeParser(BYTEA),
  // Without a zone they name no instant; a Date would read them in the zone of this machine.
  [DATE]: asText,
  [TIMESTAMP]: asText,
  // Counts stay below 2^53.
  [INT8]: Number,
  [INT8_ARRAY]: (text) => JSON.parse(`[${text.slice(1, -1).replaceAll('NULL', 'null')}]`),
  [TIMESTAMPTZ]: pg.types.getTypeParser(TIMESTAMPTZ),
}

function asText(text: string): string {
  return text
}
