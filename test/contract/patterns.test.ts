import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Attack, attacksOn } from '../support/patterns/attacks-on.ts'
import { type FoundPattern, patternsIn } from '../support/patterns/patterns-in.ts'
import { StepCounter, TooManySteps } from '../support/patterns/step-counter.ts'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = '{apps/gateway/{src,bin},apps/console/src,packages/{sdk,sandbox}/src}/**/*.{ts,tsx,js}'
const BESIDE = /\.test\.tsx?$|\.test-support\.|\/generated\//

const STEPS_MAX = 2_000_000

describe('every regular expression of the sources', () => {
  const files = globSync(SOURCES, { cwd: ROOT }).filter((file) => !BESIDE.test(file))
  const found = files.flatMap((file) =>
    patternsIn(file, readFileSync(join(ROOT, file), 'utf8')).map((each) => ({ ...each, file })),
  )
  const placeOf = ({ file, line, code }: FoundPattern & { file: string }) => `${file}:${line} ${code}`
  const measured = found.flatMap((each) =>
    each.pattern === undefined || each.reason !== undefined ? [] : { ...each, ...each.pattern },
  )

  test('takes a time that is linear in the text, or a comment says why it need not', () => {
    const slow = measured.flatMap((each) => {
      const attack = attackOn(each.source, each.flags)
      return attack === undefined ? [] : `${placeOf(each)} on ${JSON.stringify(attack)}`
    })
    expect(slow).toEqual([])
  })

  test('is known as a text, or a comment says why what it is made of takes no longer', () => {
    const unknown = found.filter(({ pattern, reason }) => pattern === undefined && reason === undefined)
    expect(unknown.map(placeOf)).toEqual([])
    expect(measured.length).toBeGreaterThan(350)
  })

  test('finds in these searches what the real engine finds', () => {
    const differing = measured.filter(({ source, flags }) => {
      const counter = new StepCounter(source, flags)
      const real = new RegExp(source, flags.replace(/[gy]/g, ''))
      const texts = attacksOn(counter).map((attack) => textOf(attack, 2))
      return texts.some((text) => real.exec(text)?.[0] !== counter.search(text, STEPS_MAX).first)
    })
    expect(differing.map(placeOf)).toEqual([])
  })
})

describe('an attack is found on', () => {
  test.each([
    /\.+$/,
    /[\s.\u200c\u200d]+$/,
    /insufficient.*(?:quota|balance)/i,
    /\b(?:assistant|graph)\b.*\bnot found\b/is,
    /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:NaN|Infinity)/gs,
    /\beyJ[\w-]+\.[\w.-]+/g,
    /\b(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{2,5}\b/gi,
    /(\d+(?:\.\d+)?)\s?([a-z]+|秒)/gi,
    /<script\b(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script\s*>/gi,
    /^\d*\.?\d+$/,
    /^(?:a|a)*$/,
    /^(?:a+)+$/,
    /(?<=x\s*)y/,
    /[\p{L}--[a-z]]+$/v,
  ])('%s', ({ source, flags }) => {
    expect(attackOn(source, flags)).toBeDefined()
  })
})

describe('none is found on', () => {
  test.each([
    /(?<!\.)\.+$/,
    /\s+/g,
    /^\s+/,
    /^(?:[^"\\]|\\.)*$/,
    /insufficient.{0,40}quota/i,
    /null\s*$/,
    /--.*$/gm,
    /[\p{L}--[a-z]]+/v,
  ])('%s', ({ source, flags }) => {
    expect(attackOn(source, flags)).toBeUndefined()
  })
})

/** The attack under which a pattern takes more than linear time. */
function attackOn(source: string, flags: string): Attack | undefined {
  const counter = new StepCounter(source, flags)
  return attacksOn(counter).find((attack) => isSlow(counter, attack, 8) && isSlow(counter, attack, 100))
}

/** Whether twice as long a text takes more than three times as many steps; a linear search takes twice as many. */
function isSlow(counter: StepCounter, attack: Attack, times: number): boolean {
  try {
    const [once = 0, twice = 0, fourTimes = 0] = [times, 2 * times, 4 * times].map(
      (each) => counter.search(textOf(attack, each), STEPS_MAX).steps,
    )
    return fourTimes - twice > 3 * (twice - once)
  } catch (error) {
    if (error instanceof TooManySteps) return true
    throw error
  }
}

function textOf({ head, pump, tail }: Attack, times: number): string {
  return head + pump.repeat(times) + tail
}
