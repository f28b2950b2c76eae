import stringWidth from 'string-width'
import { ConfigError } from '#config/load.ts'
import { refusalLine } from '#process/refusal-line.ts'

/** A column of a table: its heading, and the cell that it shows for a record. */
export type Column<Row> = readonly [heading: string, cell: (row: Row) => Cell]
export type Cell = string | number | null | undefined

/** Columns that are headed by the names of the fields that they show. */
export function columnsOf<Name extends string>(
  ...names: readonly Name[]
): Column<Readonly<Record<Name, Cell>>>[] {
  return names.map((name) => [name, (row) => row[name]])
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}

/** Prints a line of headings and one line for each record, or the sentence `none` if there is no record. */
export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string): void {
  const headings = columns.map(([heading]) => heading.toUpperCase())
  if (rows.length === 0) console.log(none)
  else printAligned([headings, ...rows.map((row) => columns.map(([, cell]) => text(cell(row))))])
}

interface PageForm<Row> {
  readonly json: true | undefined
  readonly columns: readonly Column<Row>[]
  readonly none: string
}

/** Prints a page of a list, and how to see the next one. */
export function printPage<Row>(
  { items, nextCursor }: { readonly items: readonly Row[]; readonly nextCursor: string | null },
  { json, columns, none }: PageForm<Row>,
): void {
  if (json) printJson({ items, next_cursor: nextCursor })
  else printTable(items, columns, none)
  if (!json && nextCursor !== null) console.log(`More: --cursor ${nextCursor}`)
}

/** Prints one line for each property. */
export function printProperties(properties: Readonly<Record<string, Cell>>): void {
  printAligned(Object.entries(properties).map(([name, value]) => [name, text(value)]))
}

function printAligned(lines: readonly (readonly string[])[]): void {
  const widths: number[] = []
  for (const line of lines) {
    for (const [index, cell] of line.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, stringWidth(cell))
    }
  }
  for (const line of lines) {
    const cells = line.map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - stringWidth(cell)))
    console.log(cells.join('  ').trimEnd())
  }
}

function text(cell: Cell): string {
  // A description may have several lines, but each record must stay on one.
  return cell === null || cell === undefined || cell === '' ? '-' : String(cell).replace(/\s+/g, ' ')
}

/** One line for each problem that the operator can correct. Only a fault of the program is shown with its stack. */
export function errorLines(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.issues
  const line = refusalLine(error)
  if (line !== undefined) return [line]
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)]
}
