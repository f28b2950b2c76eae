import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { printReferencePage, REFERENCE_PAGES } from '../../scripts/print-contract.ts'
import { withSymbolLinks } from '../../scripts/symbol-links.ts'

test.each(REFERENCE_PAGES)(
  '%s says what the code says (after a change: pnpm contract)',
  async (page, parts) => {
    expect(await readFile(new URL(`../../${page}`, import.meta.url), 'utf8')).toBe(
      await printReferencePage(page, parts),
    )
  },
)

describe('links to what is declared in the sources', () => {
  const linked = (links: string) => withSymbolLinks('docs/page.md', links)
  const linesOf = (page: string) =>
    [...page.matchAll(/\]\(([^#]+)#L(\d+)\)/g)].map(([, path = '', line]) => {
      const source = readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')
      return source.split('\n')[Number(line) - 1]?.trim()
    })

  test('a link follows a symbol to another line and to a file that was moved', () => {
    const page = linked(
      '[`EventReader.feed`](../apps/gateway/src/moved/event-reader.ts#L1) and [`createLedger.admit`](../apps/gateway/src/renamed.ts#L1)',
    )
    expect(linesOf(page)).toEqual(['feed(chunk: Buffer): boolean {', 'async admit(admission) {'])
    // What leads there already stays as it is.
    expect(linked(page)).toBe(page)
  })

  test('symbols that are declared nowhere, or in several other files, are all named', () => {
    const links = ['noSuchThing', 'headOf', 'EventReader.noSuchMethod']
    const page = links.map((symbol) => `[\`${symbol}\`](../apps/gateway/src/cli/main.ts#L1)`).join('\n')
    expect(() => linked(page)).toThrow(
      /`noSuchThing`.* is declared neither there nor.*\n.*`headOf`.* is declared in several files.*\n.*`EventReader\.noSuchMethod`.* neither/,
    )
  })
})
