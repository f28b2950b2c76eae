import { expect, test } from 'vitest'
import { localeOf } from '../app/language.ts'
import { formatsIn } from './use-formats.ts'

const EVENING = '2026-11-27T17:51:39Z'

test.each([
  ['en', ['de-DE', 'en', 'en-GB', 'en-US'], 'en-GB'],
  ['en', ['zh-CN', 'zh'], 'en'],
  ['zh', ['en-US', 'zh-TW'], 'zh-TW'],
  ['en', ['EN-us'], 'EN-us'],
] as const)(
  '%s is written as in the region of it that the browser %j prefers',
  (language, wanted, locale) => {
    expect(localeOf(language, wanted)).toBe(locale)
  },
)

test.each([
  ['en-GB', '17:51:39', '27 Nov, 17:51', '27 Nov 2026', 'Friday, 27 November 2026'],
  ['en-US', '5:51:39 PM', 'Nov 27, 5:51 PM', 'Nov 27, 2026', 'Friday, November 27, 2026'],
  ['zh', '17:51:39', '11月27日 17:51', '2026年11月27日', '2026年11月27日星期五'],
])('times of %s are short for today, have the day in this year, and are days before', (locale, ...texts) => {
  const { short, day } = formatsIn(locale, 'UTC')
  const nows = ['2026-11-27T23:59:59Z', '2026-11-28T00:00:00Z', '2027-01-01T00:00:00Z']
  // Some spaces of it do not break.
  const written = [...nows.map((now) => short(EVENING, new Date(now))), day(EVENING)]
  expect(written.map((text) => text.replaceAll(/\s/g, ' '))).toEqual(texts)
})
