/** Prints a Markdown table, whose head is given as Markdown. The first column holds names, the others hold figures. */
export function printTable(head: string, rows: readonly (readonly string[])[]): void {
  const columns = head.split(' | ')
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const lines = [columns, rule, ...rows].map(
    (row) => `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`,
  )
  console.log(`\n${lines.join('\n')}\n`)
}
