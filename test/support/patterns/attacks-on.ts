import type { AST } from '@eslint-community/regexpp'
import { isSet, type StepCounter } from './step-counter.ts'

/** A text with a part that is repeated: what makes a pattern slow repeats something, and fails at the end. */
export interface Attack {
  readonly head: string
  readonly pump: string
  readonly tail: string
}

/** Bounds above this are as bad as none. */
const BOUND_MAX = 1_000
const WORDS_MAX = 40
const TAILS = ['', '\0', '\n', '!a']
/** Characters that patterns distinguish, besides those that a pattern names. */
const USUAL = [...' \t\n\0aAzZ09_-./\\"\'`!:;,<>{}()[]$#@=+*&%?|~^éß中，\u200c\u2028\ufffd']

/** Attacks on the repetitions without bounds of a pattern; none if it has no such repetition. */
export function attacksOn(counter: StepCounter): readonly Attack[] {
  const { pattern } = counter
  const repetitions = [...nodesIn(pattern)].flatMap((node) =>
    node.type === 'Quantifier' && node.max > BOUND_MAX ? node : [],
  )
  if (repetitions.length === 0) return []
  const words = new Words(counter)
  const attacks = new Map<string, Attack>()
  const add = (head: string, pump: string) => {
    if (pump === '') return
    for (const tail of TAILS) attacks.set(JSON.stringify([head, pump, tail]), { head, pump, tail })
  }
  for (const repetition of repetitions) {
    const before = words.before(repetition)
    const repeated = words.of(repetition.element)
    const [first = ''] = repeated
    for (const head of new Set(['', before])) {
      for (const pump of [...words.characters, ...repeated]) add(head, pump)
      for (const word of repeated) add(head, before + word)
    }
    for (const character of words.characters) {
      for (const pump of [before + character, before + first + character, character + first]) add('', pump)
    }
    add('', before)
  }
  return [...attacks.values()]
}

/** Words that parts of a pattern match. */
class Words {
  /** One of each kind of characters, between which no part of the pattern makes a difference. */
  readonly characters: readonly string[]
  readonly #counter: StepCounter

  constructor(counter: StepCounter) {
    this.#counter = counter
    const nodes = [...nodesIn(counter.pattern)]
    const named = nodes.flatMap((node) => (node.type === 'Character' ? String.fromCodePoint(node.value) : []))
    const sets = nodes.filter(isSet)
    const kinds = new Map<string, string>()
    for (const character of [...USUAL, ...named]) {
      // Assertions distinguish these two.
      const assertable = [/\w/.test(character), /[\n\u2028]/.test(character)]
      const kind = [...sets.map((set) => counter.contains(set, character)), ...assertable]
        .map(Number)
        .join('')
      if (!kinds.has(kind)) kinds.set(kind, character)
    }
    this.characters = [...kinds.values()]
  }

  /** Words of a part, of which each differs from the first, the shortest, in one place. */
  of(node: AST.Node): readonly string[] {
    if (isSet(node)) {
      if (node.type === 'Character') return [String.fromCodePoint(node.value)]
      return this.characters.filter((character) => this.#counter.contains(node, character))
    }
    switch (node.type) {
      case 'Pattern':
      case 'Group':
      case 'CapturingGroup':
        return node.alternatives.flatMap((alternative) => this.of(alternative)).slice(0, WORDS_MAX)
      case 'Alternative':
        return this.#inSequence(node.elements)
      case 'Quantifier': {
        const words = this.of(node.element)
        return node.min === 0 ? ['', ...words] : words.map((word) => word.repeat(node.min))
      }
      default:
        return ['']
    }
  }

  /** The shortest text that leads to a part. */
  before(node: AST.Node): string {
    const { parent } = node
    if (parent === null) return ''
    if (parent.type !== 'Alternative') return this.before(parent)
    let text = this.before(parent)
    for (const element of parent.elements) {
      if (element === node) break
      text += this.of(element)[0] ?? ''
    }
    return text
  }

  #inSequence(elements: readonly AST.Element[]): readonly string[] {
    const each = elements.map((element) => this.of(element))
    const first = each.map(([word = '']) => word)
    const others = each.flatMap((words, index) =>
      words.slice(1).map((word) => first.with(index, word).join('')),
    )
    return [first.join(''), ...others].slice(0, WORDS_MAX)
  }
}

function* nodesIn(node: AST.Node): Generator<AST.Node> {
  yield node
  for (const [name, child] of Object.entries(node)) {
    if (name === 'parent' || name === 'references' || name === 'resolved') continue
    for (const each of Array.isArray(child) ? child : [child]) {
      if (typeof each === 'object' && each !== null && 'type' in each) yield* nodesIn(each as AST.Node)
    }
  }
}
