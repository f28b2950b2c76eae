import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = join(import.meta.dirname, '..')
const css = globSync('**/*.css', { cwd: SOURCES }).map((file) => readFileSync(join(SOURCES, file), 'utf8'))
const tokens = readFileSync(join(import.meta.dirname, 'tokens.css'), 'utf8')

type Theme = 'light' | 'dark'
type Pair = [text: string, background: string, least: number]

/** The colours by their names, such as `text-2`, as the numbers of red, green and blue. */
const COLOURS = Object.fromEntries(
  [...tokens.matchAll(/--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\);/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light: rgb(light), dark: rgb(dark) }],
  ),
)

/** What is behind a text that has no background of its own: the page, a card, and a part of a card that stands out. */
const SURFACES = ['page', 'surface', 'surface-2']
/** Backgrounds that are named for the one text that is on them. */
const OWN_SURFACE: Readonly<Record<string, string>> = { 'accent-text': 'accent', 'danger-text': 'danger' }
/** Not of texts: lines and signs, for which less is enough. */
const SIGNS = ['line', 'line-strong']

const AA_TEXT = 4.5
const AA_SIGNS = 3

function rgb(hex: string): number[] {
  return [0, 2, 4].map((place) => Number.parseInt(hex.slice(place, place + 2), 16))
}

/** The relative luminance of WCAG 2.2. */
function luminance(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string, theme: Theme): number {
  const [brighter = 0, darker = 0] = [one, other]
    .map((name) => luminance(COLOURS[name]?.[theme] ?? []))
    .sort((a, b) => b - a)
  return (brighter + 0.05) / (darker + 0.05)
}

/** Every pair of a text and its background that the style sheets make, each with what it needs at least. */
function pairs(): Pair[] {
  const rules = css.flatMap((sheet) => [...sheet.matchAll(/\{([^{}]*)\}/g)].map(([, rule = '']) => rule))
  const used = (rule: string, property: string) =>
    new RegExp(`(?:^|[\\s;])${property}: var\\(--([\\w-]+)\\);`).exec(rule)?.[1]
  const texts = new Set(rules.flatMap((rule) => used(rule, 'color') ?? []))
  for (const sign of SIGNS) texts.delete(sign)
  const onSurfaces = [...texts].flatMap((text) =>
    (OWN_SURFACE[text] === undefined ? SURFACES : [OWN_SURFACE[text]]).map((surface) => [text, surface]),
  )
  const inOneRule = rules.map((rule) => [used(rule, 'color') ?? '', used(rule, 'background') ?? ''])
  // Notices have both texts, and links, on a soft background.
  const onSoft = ['accent-soft', 'danger-soft', 'warn-soft'].flatMap((soft) =>
    ['text', 'text-2', 'accent'].map((text) => [text, soft]),
  )
  return [...onSurfaces, ...inOneRule, ...onSoft]
    .filter(([text = '', background = '']) => text in COLOURS && background in COLOURS)
    .map(([text = '', background = '']) => [text, background, AA_TEXT])
}

const series = Object.keys(COLOURS).filter((name) => name.startsWith('series-'))
const signs = ['line-strong', 'accent', 'danger', ...series].map((name): Pair => [name, 'surface', AA_SIGNS])

test.each(['light', 'dark'] as const)(
  'every text on its background, every field and every series of a chart has the contrast of WCAG AA in %s colours',
  (theme) => {
    const all = [...pairs(), ...signs]
    expect(all.length).toBeGreaterThan(40)
    const tooWeak = all
      .filter(([text, background, least]) => contrast(text, background, theme) < least)
      .map(
        ([text, background]) => `${text} on ${background}: ${contrast(text, background, theme).toFixed(2)}`,
      )
    expect([...new Set(tooWeak)]).toEqual([])
  },
)

test('the colours are read as the style sheets have them, and black on white has the contrast 21', () => {
  expect(luminance(rgb('ffffff')) + 0.05).toBeCloseTo(21 * (luminance(rgb('000000')) + 0.05), 5)
  expect(COLOURS.text).toEqual({ light: [22, 27, 34], dark: [232, 236, 241] })
})
