import leven from 'leven'

/**
 * Returns the name that a misspelt one most likely stands for: the one that takes the fewest edits, at most a third of its
 * letters, whatever the case. Undefined if none is that near. The cost is bounded by the names, however long the word is.
 */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  const near = names
    .filter((name) => Math.abs(word.length - name.length) <= editsMax(name))
    .map((name) => ({ name, edits: leven(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= editsMax(name))
    .sort((a, b) => a.edits - b.edits)
  return near[0]?.name
}

function editsMax(name: string): number {
  return Math.max(1, Math.floor(name.length / 3))
}
