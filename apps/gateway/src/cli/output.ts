import stringWidth from 'string-width'
import { ConfigError } from '#config/load.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { isObject } from '#core/base/values/json.ts'
import { refusalLine } from '#process/refusal-line.ts'
import type { RecordOptions } from './context.ts'

/** A column of a table: its heading, and the cell that it shows for a record. */
export type Column<Row> = readonly [heading: string, cell: (row: Row) => Cell]
export type Cell = string | number | null | undefined

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}

/** Prints a line of headings and one line for each record, or the sentence `none` if there is no record. */
export function printTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string): void {
  const headings = columns.map(([heading]) => heading.toUpperCase())
  if (rows.length === 0) console.log(none)
  else printAligned([headings, ...rows.map((row) => columns.map(([, cell]) => text(cell(row))))])
}

/** What the table of a list has. */
export interface Shown<Row> {
  /** Fields of the records, and cells that are made of several. */
  readonly columns: readonly ((keyof Row & string) | Column<Row>)[]
  /** The sentence for a list without records. */
  readonly none: string
}

/** Prints the records of a list: as JSON, or as a table with the columns that are usual or those that were chosen. */
export function printRecords<Row extends object>(
  records: readonly Row[],
  { json, columns: chosen }: RecordOptions,
  { columns, none }: Shown<Row>,
): void {
  if (json) {
    printJson(records)
    return
  }
  const fields = Object.keys(records[0] ?? {}) as (keyof Row & string)[]
  const names = chosen?.join() === 'all' ? fields : chosen?.map((name) => knownIn(fields, name))
  const shown = (names ?? columns).map((column) =>
    typeof column === 'string' ? ([column, (row: Row) => cellOf(row[column])] as const) : column,
  )
  printTable(records, shown, none)
}

function knownIn<Name extends string>(fields: readonly Name[], name: string): Name {
  const known = fields.find((field) => field === name)
  if (known !== undefined || fields.length === 0) return known ?? (name as Name)
  throw new OperatorError(`--columns: expected all, or some of ${fields.join(', ')}.`)
}

function cellOf(value: unknown, separator = ','): Cell {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map((each) => cellOf(each)).join(separator)
  return isObject(value) ? JSON.stringify(value) : (value as Cell)
}

/** Prints one line for each property, also for those of an object within. */
export function printProperties(properties: object): void {
  printAligned(linesOf(properties))
}

function linesOf(properties: object): string[][] {
  return Object.entries(properties).flatMap(([name, value]) =>
    isObject(value) ? linesOf(value) : [[name, text(cellOf(value, ', '))]],
  )
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
