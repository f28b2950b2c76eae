import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LedgerFixture, openLedgerFixture } from '#core/ledger/ledger.test-support.ts'
import { Prisma } from '#generated/prisma/client.ts'
import { filterInSql } from './conversation-filter.ts'

const serverUrl = process.env.E2E_DATABASE_URL

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: LedgerFixture
  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
  })
  afterAll(() => fixture.close())

  test('a search finds a text in every normal form of Unicode, in any case', async () => {
    const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const
    for (const [text, part] of [
      ['Crème brûlée', 'CRÈME'],
      ['한국어 대화', '국어'],
      ['ｆｉｎｅ ﬁle', 'fine file'],
      ['Ὀδυσσεύς', 'σσευς'.replace('υ', 'ύ')],
    ] as const) {
      for (const stored of forms) {
        for (const searched of forms) {
          const { search = Prisma.sql`false` } = filterInSql({ search: part.normalize(searched) })
          const row = Prisma.sql`SELECT ${text.normalize(stored)}::text AS name, '' AS conversation, '' AS end_user`
          const found = await fixture.database.prisma.$queryRaw<
            unknown[]
          >`SELECT 1 FROM (${row}) AS listed WHERE ${search}`
          expect([text, stored, searched, found.length]).toEqual([text, stored, searched, 1])
        }
      }
    }
  })
})
