import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** Continues behind what has been matched; returns whether the rest matches. */
type Next = (at: number) => boolean
type Matcher = (at: number, next: Next) => boolean
type Direction = 'forward' | 'backward'

export class TooManySteps extends Error {}

const SETS: ReadonlySet<string> = new Set([
  'Character',
  'CharacterSet',
  'CharacterClass',
  'ExpressionCharacterClass',
])

/** Whether a part of a pattern stands for one character. What is within a class is no part of its own. */
export function isSet(node: AST.Node): node is AST.Character | AST.CharacterClass | AST.CharacterSet {
  return SETS.has(node.type) && (node.parent === null || !node.parent.type.includes('Class'))
}

/**
 * Searches as a backtracking engine does, and counts the characters that it looks at. Unlike the time of the real engine, the count
 * is the same on every machine, so short texts show how it grows.
 */
export class StepCounter {
  readonly pattern: AST.Pattern
  readonly #flags: string
  readonly #isUnicode: boolean
  readonly #match: Matcher
  readonly #membership = new Map<string, (unit: string) => boolean>()
  #text = ''
  #steps = 0
  #stepsMax = 0

  constructor(source: string, flags: string) {
    this.#flags = flags
    this.#isUnicode = /[uv]/.test(flags)
    const modes = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') }
    this.pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, 0, source.length, modes)
    this.#match = this.#anyOf(this.pattern.alternatives, 'forward')
  }

  /**
   * Finds what `String.prototype.replace` would replace.
   *
   * @throws TooManySteps
   */
  search(text: string, stepsMax: number): { readonly steps: number; readonly first: string | undefined } {
    this.#text = text
    this.#steps = 0
    this.#stepsMax = stepsMax
    let first: string | undefined
    for (let at = 0; at <= text.length; ) {
      this.#step()
      let end = -1
      const isFound = this.#match(at, (reached) => {
        end = reached
        return true
      })
      if (isFound) {
        first ??= text.slice(at, end)
        if (!this.#flags.includes('g')) break
      }
      at = Math.max(at + 1, end)
    }
    return { steps: this.#steps, first }
  }

  /** Whether a class, a set or a character of the pattern contains a character. */
  contains({ raw }: AST.Element, unit: string): boolean {
    let contains = this.#membership.get(raw)
    if (contains === undefined) {
      const one = new RegExp(`^(?:${raw})$`, this.#flags.replace(/[gy]/g, ''))
      const known = new Map<string, boolean>()
      contains = (each) => {
        const isMember = known.get(each) ?? one.test(each)
        known.set(each, isMember)
        return isMember
      }
      this.#membership.set(raw, contains)
    }
    return contains(unit)
  }

  #step(): void {
    this.#steps += 1
    if (this.#steps > this.#stepsMax) throw new TooManySteps()
  }

  #anyOf(alternatives: readonly AST.Alternative[], direction: Direction): Matcher {
    const matchers = alternatives.map(({ elements }) => this.#sequence(elements, direction))
    return (at, next) => matchers.some((match) => match(at, next))
  }

  #sequence(elements: readonly AST.Element[], direction: Direction): Matcher {
    const matchers = elements.map((element) => this.#element(element, direction))
    if (direction === 'backward') matchers.reverse()
    return matchers.reduceRight<Matcher>(
      (rest, match) => (at, next) => match(at, (reached) => rest(reached, next)),
      (at, next) => next(at),
    )
  }

  #element(element: AST.Element, direction: Direction): Matcher {
    switch (element.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass':
        return this.#unit(element, direction)
      case 'Group':
      case 'CapturingGroup':
        return this.#anyOf(element.alternatives, direction)
      case 'Quantifier':
        return this.#repeated(element, direction)
      case 'Assertion':
        return this.#assertion(element)
      default:
        throw new Error(`${element.raw} is not supported.`)
    }
  }

  #unit(element: AST.Element, direction: Direction): Matcher {
    return (at, next) => {
      this.#step()
      const unit = this.#unitAt(at, direction)
      if (unit === '' || !this.contains(element, unit)) return false
      return next(direction === 'forward' ? at + unit.length : at - unit.length)
    }
  }

  #unitAt(at: number, direction: Direction): string {
    const start = direction === 'forward' ? at : at - 1
    if (!this.#isUnicode) return this.#text.charAt(start)
    const isLow = direction === 'backward' && (this.#text.codePointAt(start - 1) ?? 0) > 0xffff
    const code = this.#text.codePointAt(isLow ? start - 1 : start)
    return code === undefined ? '' : String.fromCodePoint(code)
  }

  #repeated({ element, min, max, greedy }: AST.Quantifier, direction: Direction): Matcher {
    const match = this.#element(element, direction)
    if (greedy && isSet(element)) return this.#run(match, min, max)
    const from = (count: number, at: number, next: Next): boolean => {
      const more = () =>
        count < max &&
        match(at, (reached) => (reached !== at || count < min) && from(count + 1, reached, next))
      if (count < min) return more()
      return greedy ? more() || next(at) : next(at) || more()
    }
    return (at, next) => from(0, at, next)
  }

  /** A run of single characters, which would be too deep for a recursion. */
  #run(match: Matcher, min: number, max: number): Matcher {
    return (at, next) => {
      const places = [at]
      const note = (reached: number) => places.push(reached) > 0
      while (places.length <= max && match(places.at(-1) ?? at, note));
      while (places.length > min) {
        const place = places.pop()
        if (place !== undefined && next(place)) return true
      }
      return false
    }
  }

  #assertion(assertion: AST.Assertion): Matcher {
    const holds = this.#holds(assertion)
    return (at, next) => {
      this.#step()
      return holds(at) && next(at)
    }
  }

  #holds(assertion: AST.Assertion): (at: number) => boolean {
    const isMultiline = this.#flags.includes('m')
    const isBreak = (at: number) => /[\n\r\u2028\u2029]/.test(this.#text.charAt(at))
    const isWord = (at: number) => /\w/.test(this.#text.charAt(at))
    switch (assertion.kind) {
      case 'start':
        return (at) => at === 0 || (isMultiline && isBreak(at - 1))
      case 'end':
        return (at) => at === this.#text.length || (isMultiline && isBreak(at))
      case 'word':
        return (at) => (isWord(at - 1) !== isWord(at)) !== assertion.negate
      default: {
        const direction = assertion.kind === 'lookahead' ? 'forward' : 'backward'
        const match = this.#anyOf(assertion.alternatives, direction)
        return (at) => match(at, () => true) !== assertion.negate
      }
    }
  }
}
