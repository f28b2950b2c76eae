import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Sql } from '#core/database/database.ts'

/**
 * The first line of an export. The following lines are `{"table", "row"}` with a row as PostgreSQL's `to_jsonb` writes it; the
 * last line is an {@link ExportEnd}.
 */
export interface ExportStart {
  readonly trunklineExport: typeof EXPORT_FORMAT
  readonly migrations: readonly string[]
}

export interface ExportEnd {
  /** Number of rows of each table. */
  readonly end: Readonly<Record<string, number>>
  /** SHA-256 of all lines before this one, with their line feeds, in hex. */
  readonly sha256: string
}

export const EXPORT_FORMAT = 1

/** Converts errors of the file system and of decompression to an {@link OperatorError}; returns other errors unchanged. */
export function fileError(file: string, error: unknown): unknown {
  const { code = '', message } = error as Partial<NodeJS.ErrnoException>
  if (code === 'EEXIST') return new OperatorError(`The file ${file} already exists.`, { cause: error })
  if (code.startsWith('Z_'))
    return new OperatorError(`The file ${file} is broken: ${message} (gzip).`, { cause: error })
  // Errors of the embedded database have no such code.
  if (/^E[A-Z]+$/.test(code))
    return new OperatorError(`The file ${file} cannot be used: ${message}.`, { cause: error })
  return error
}

/** Returns all tables except Prisma's own, ordered so that foreign keys refer only to tables that come earlier. */
export async function exportedTables(sql: Sql): Promise<string[]> {
  const tables = await sql.query<{ name: string }>(TABLES)
  return tables.map(({ name }) => name)
}

const TABLES = `
WITH RECURSIVE place AS (
  SELECT oid, relname, 0 AS depth FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND relname <> '_prisma_migrations'
  UNION
  SELECT f.conrelid, c.relname, p.depth + 1
  FROM place p
  JOIN pg_constraint f ON f.contype = 'f' AND f.confrelid = p.oid AND f.conrelid <> p.oid
  JOIN pg_class c ON c.oid = f.conrelid
)
SELECT relname::text AS name FROM place GROUP BY relname ORDER BY max(depth), relname`
