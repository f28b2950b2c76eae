import { expect, test, vi } from 'vitest'
import { messages as en } from '../../messages/en.ts'
import { messages as zh } from '../../messages/zh.ts'
import { texts } from './texts.ts'

test('the texts of the pages are loaded with the first of them, and with a language that is chosen', async () => {
  vi.stubGlobal('localStorage', { setItem: () => undefined })
  await texts.start('en')
  expect(texts.current.language).toBe('en')
  expect(texts.current.messages).not.toHaveProperty('refusals')
  expect(texts.current.messages.common).toEqual(en.common)
  // A language that is chosen while the texts of a page are still being loaded must hold.
  await Promise.all([texts.loadPages(), texts.choose('zh')])
  expect(texts.current).toEqual({ language: 'zh', messages: zh })
  await texts.start('en')
  await texts.loadPages()
  expect(texts.current).toEqual({ language: 'en', messages: en })
  vi.unstubAllGlobals()
})
