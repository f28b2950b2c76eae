/** A page with parts that are written by a program, each between two comments: `<!-- generated: name -->` and `<!-- end -->`. */
const PART = /(<!-- generated: ([a-z -]+) -->\n)(?:.*?\n)??(<!-- end -->)/gs

/**
 * Returns the page with its generated parts replaced. What stands around them is written by hand.
 *
 * @throws Error if the page lacks one of the parts, or has one that is not generated
 */
export function withGeneratedParts(page: string, parts: Readonly<Record<string, string>>): string {
  const missing = new Set(Object.keys(parts))
  const written = page.replace(PART, (_, begin: string, name: string, end: string) => {
    const text = parts[name]
    if (text === undefined) throw new Error(`The part "${name}" of the page is not generated.`)
    missing.delete(name)
    return `${begin}\n${text}\n\n${end}`
  })
  if (missing.size > 0) throw new Error(`The page lacks the parts "${[...missing].join('", "')}".`)
  return written
}

/** A table in Markdown. A `|` in a cell would end it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
