import { createTranslator } from 'use-intl'
import { expect, test } from 'vitest'
import { ERRORS } from '../../gateway/src/core/base/errors/errors.ts'
import { messages as en } from './en.ts'
import { messages as zh } from './zh.ts'

type Tree = { readonly [key: string]: string | Tree }

/** Every text of a language by its path, such as `common.close`. */
function textsOf(tree: Tree, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(tree).flatMap(([key, value]) =>
      typeof value === 'string' ? [[`${prefix}${key}`, value]] : [...textsOf(value, `${prefix}${key}.`)],
    ),
  )
}

const english = textsOf(en)
const chinese = textsOf(zh)
const placeholdersOf = (text: string) =>
  [...new Set([...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name))].sort()

test('both languages have the same messages, and none is empty', () => {
  expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort())
  expect([...english, ...chinese].filter(([, text]) => text.trim() === '')).toEqual([])
})

test('a message has the same placeholders in both languages', () => {
  const different = [...english].filter(
    ([key, text]) => placeholdersOf(text).join() !== placeholdersOf(chinese.get(key) ?? '').join(),
  )
  expect(different).toEqual([])
})

test.each([
  ['en', en, english],
  ['zh', zh, chinese],
] as const)('every message of %s can be formatted', (locale, messages, texts) => {
  const t = createTranslator({
    locale,
    messages: messages as never,
    onError(error) {
      throw error
    },
  }) as unknown as (key: string, values: Record<string, unknown>) => string
  for (const [key, text] of texts) {
    const values = Object.fromEntries(placeholdersOf(text).map((name) => [name, 2]))
    expect(t(key, values), key).not.toContain('{')
  }
})

test('every reason of the error table has a text', () => {
  expect(Object.keys(ERRORS).filter((reason) => !(reason in en.reasons))).toEqual([])
})
