import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { printReferencePage, REFERENCE_PAGES } from '../../scripts/print-contract.ts'

test.each(REFERENCE_PAGES)(
  '%s says what the code says (after a change: pnpm contract)',
  async (page, parts) => {
    expect(await readFile(new URL(`../../${page}`, import.meta.url), 'utf8')).toBe(
      await printReferencePage(page, parts),
    )
  },
)
