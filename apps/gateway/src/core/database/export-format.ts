import { OperatorError } from '#core/operator-error.ts'
import type { Sql } from './database.ts'

/** The first line of an export. Each line after it is `{"table", "row"}`, a row in PostgreSQL's own words; the last is an {@link ExportEnd}. */
export interface ExportStart {
  readonly trunklineExport: typeof EXPORT_FORMAT
  readonly migrations: readonly string[]
}

export interface ExportEnd {
  /** Rows of each table. */
  readonly end: Readonly<Record<string, number>>
  /** SHA-256 of all lines before, each with its line feed. */
  readonly sha256: string
}

export const EXPORT_FORMAT = 1

/** An export or import was refused for a reason that the operator can repair; nothing was changed. */
export class TransferError extends OperatorError {}

/** Translates what the file system and the decompression say about a file; other errors are returned as they are. */
export function fileProblem(file: string, error: unknown): unknown {
  const { code, message } = error as Partial<NodeJS.ErrnoException>
  if (typeof code !== 'string') return error
  if (code === 'EEXIST') return new TransferError(`There is a file ${file} already.`, { cause: error })
  if (code === 'ENOENT') return new TransferError(`There is no file or directory ${file}.`, { cause: error })
  if (code.startsWith('Z_')) {
    return new TransferError(`The file ${file} is broken: ${message} (gzip).`, { cause: error })
  }
  if (/^E[A-Z0-9]+$/.test(code) && error instanceof Error && 'syscall' in error && isOfFile(error.syscall)) {
    return new TransferError(`The file ${file} cannot be used: ${message}.`, { cause: error })
  }
  return error
}

/** A socket's errors have the same codes; those are the database's. */
function isOfFile(syscall: unknown): boolean {
  return ['open', 'read', 'write', 'close', 'fsync'].includes(String(syscall))
}

/** Every table of the schema but Prisma's own, those that are referred to before those that refer to them. */
export async function tablesToMove(sql: Sql): Promise<string[]> {
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
